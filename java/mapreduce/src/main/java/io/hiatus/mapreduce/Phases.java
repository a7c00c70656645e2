package io.hiatus.mapreduce;

import java.util.ArrayList;
import java.util.List;

/** The phases of a kind of task, as shares of what MapReduce calls its progress. */
enum Phases {
    /** Maps whose output nobody sorts. */
    MAP_ONLY(1),
    /** Map, sort. */
    MAP(0.667f, 1),
    /** Copy, sort, reduce. */
    REDUCE(1 / 3f, 2 / 3f, 1);

    private final float[] ends;

    Phases(float... ends) {
        this.ends = ends;
    }

    /** Number of the phase, from 0, in which a task of that progress (0 to 1) is. */
    int at(float progress) {
        int phase = 0;
        while (phase < ends.length - 1 && progress >= ends[phase]) {
            phase++;
        }
        return phase;
    }

    /** Share of the phase that is done, 0 to 1. */
    double share(int phase, float progress) {
        double begin = phase == 0 ? 0 : ends[phase - 1];
        return Math.min(1, Math.max(0, (progress - begin) / (ends[phase] - begin)));
    }

    /** Nothing known of any phase yet. */
    Means means() {
        return new Means(ends.length);
    }

    /** Means over all attempts of a kind, phase by phase. */
    static final class Means {
        private final List<Mean> phases = new ArrayList<>();

        private Means(int count) {
            for (int phase = 0; phase < count; phase++) {
                phases.add(new Mean());
            }
        }

        Mean of(int phase) {
            return phases.get(phase);
        }

        /** The phases from that one on of which anything is known. */
        List<BatchMR.Phase> from(int phase) {
            List<BatchMR.Phase> known = new ArrayList<>();
            for (Mean mean : phases.subList(Math.min(phase, phases.size()), phases.size())) {
                if (mean.mean() != null) {
                    known.add(mean.mean());
                }
            }
            return known;
        }
    }

    /** Mean data and mean speed of the attempts that were seen in a phase. */
    static final class Mean {
        private int attempts;
        private double data;
        private double speed;

        void add(double itsData, double itsSpeed) {
            attempts++;
            data += itsData;
            speed += itsSpeed;
        }

        /** An attempt counts anew. */
        void remove(double itsData, double itsSpeed) {
            attempts--;
            data -= itsData;
            speed -= itsSpeed;
        }

        /** Null while none has shown any speed. */
        BatchMR.Phase mean() {
            return attempts == 0 || speed <= 0 ? null : new BatchMR.Phase(data / attempts, speed / attempts);
        }
    }
}
