package io.hiatus.mapreduce;

import java.util.List;

/**
 * The formulas of BatchMR's speculation (Luo et al., section 3.2), with its numbers. Data is in any unit, time in milliseconds,
 * speed is data per millisecond. The sums leave out phases that no attempt has reached.
 */
final class BatchMR {
    /** Weight of the newest observation in a mean. */
    static final double ALPHA = 0.3;

    private BatchMR() { }

    /** What attempts have shown of a phase. */
    static final class Phase {
        final double meanData;
        final double meanSpeed;

        Phase(double meanData, double meanSpeed) {
            this.meanData = meanData;
            this.meanSpeed = meanSpeed;
        }

        private double ms() {
            return meanData / meanSpeed;
        }
    }

    /** (1): the exponentially weighted moving mean after one more observation; the first one is the mean. NaN for none yet. */
    static double ewma(double mean, double observed) {
        return Double.isNaN(mean) ? observed : ALPHA * observed + (1 - ALPHA) * mean;
    }

    /**
     * (3): time that an attempt still needs.
     *
     * @param size its data over the mean of all
     * @param later the phases after its current one
     */
    static double remaining(double dataLeft, double speed, double size, List<Phase> later) {
        return (dataLeft == 0 ? 0 : dataLeft / speed) + size * sum(later);
    }

    /**
     * (4): time that a backup needs.
     *
     * @param locality weight of where the backup would be over the weight of where the attempt is: 1 node, 2 rack, 3 elsewhere
     */
    static double backup(double locality, double size, List<Phase> all) {
        return locality * size * sum(all);
    }

    private static double sum(List<Phase> phases) {
        return phases.stream().mapToDouble(Phase::ms).sum();
    }
}
