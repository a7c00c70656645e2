package io.hiatus.mapreduce;

import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;

/**
 * An attempt whose phases have speeds of their own. Its data is the bytes that a map reads or a reduce fetches; what tells no bytes,
 * because its input is not of files, counts as much as any other.
 */
final class Phased extends Attempt {
    private final Phases phases;
    private final Phases.Means means;
    private int phase;
    /** Share of the current phase that is done, 0 to 1. */
    private double share;
    /** Share of the phase and milliseconds of the observations that tell a speed. */
    private double shown;
    private long shownMs;
    /** Whether it has reported: until then its JVM starts, which counts in the means, as a backup has to start too, but is no speed. */
    private boolean begun;
    /** Share of the phase per millisecond, as an EWMA; NaN before the first observation in the phase. */
    private double speed = Double.NaN;
    /** Bytes; NaN while nothing is done. */
    private double data = Double.NaN;
    /** What of it counts in the means of the current phase. */
    private double countedData;
    private double countedSpeed;
    private boolean counted;

    Phased(TaskAttemptId id, long enrolledMs, long reportIntervalMs, Phases phases, Phases.Means means) {
        super(id, enrolledMs, reportIntervalMs);
        this.phases = phases;
        this.means = means;
    }

    @Override
    void observe(TaskAttemptStatus status, long ms, boolean speedTells) {
        int now = status == null ? phase : Math.max(phase, phases.at(status.progress));
        double reached = status == null ? share : phases.share(now, status.progress);
        double done = now > phase ? 1 : Math.max(share, reached); // of a phase that has ended, all, and in all of this time
        if (speedTells) {
            shown += done - share;
            shownMs += ms;
            speed = status != null && !begun ? Double.NaN : BatchMR.ewma(speed, (done - share) / ms);
        }
        begun |= status != null;
        share = done;
        if (status != null) {
            learnData(status.counters, now == 0 ? share : 1);
        }
        countInMeans();
        if (now > phase) {
            enter(now, reached);
        }
    }

    private void enter(int next, double reached) {
        phase = next;
        share = reached;
        shown = 0;
        shownMs = 0;
        speed = Double.NaN;
        counted = false;
    }

    private void learnData(Counters counters, double shareOfFirstPhase) {
        if (shareOfFirstPhase > 0) {
            boolean map = id.getTaskId().getTaskType() == TaskType.MAP;
            Enum<?> name = map ? FileInputFormatCounter.BYTES_READ : TaskCounter.REDUCE_SHUFFLE_BYTES;
            long bytes = counters.findCounter(name).getValue();
            data = bytes > 0 ? bytes / shareOfFirstPhase : 1;
        }
    }

    private void countInMeans() {
        if (Double.isNaN(data) || shownMs == 0) {
            return;
        }
        if (counted) {
            means.of(phase).remove(countedData, countedSpeed);
        }
        countedData = data;
        countedSpeed = data * shown / shownMs;
        means.of(phase).add(countedData, countedSpeed);
        counted = true;
    }

    /** Milliseconds that it still needs; NaN where nobody has shown a speed in its phase. */
    double remainingMs() {
        double known = Double.isNaN(data) ? 1 : data;
        double current = known * speed;
        if (Double.isNaN(speed)) {
            BatchMR.Phase shown = means.of(phase).mean();
            current = shown == null ? Double.NaN : shown.meanSpeed;
        }
        return BatchMR.remaining((1 - share) * known, current, size(), means.from(phase + 1));
    }

    /** Milliseconds that a backup of it would need; {@code locality} as in {@link BatchMR#backup}. */
    double backupMs(double locality) {
        return BatchMR.backup(locality, size(), means.from(0));
    }

    /** Its data over the mean. */
    private double size() {
        BatchMR.Phase first = means.of(0).mean();
        return Double.isNaN(data) || first == null ? 1 : data / first.meanData;
    }
}
