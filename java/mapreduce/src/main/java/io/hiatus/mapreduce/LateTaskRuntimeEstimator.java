package io.hiatus.mapreduce;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;

/**
 * LATE (Zaharia et al., 2008), to compare with: an attempt goes on at the mean rate of progress that it had so far, and only the
 * slowest quarter is judged. Its threshold for slow nodes is left out: the ApplicationMaster does not choose the node.
 */
public final class LateTaskRuntimeEstimator extends SuspensionAwareEstimator<LateTaskRuntimeEstimator.Rated> {
    private static final double SLOW_SHARE = 0.25;

    private final Map<TaskType, List<Double>> ratesOfDone = new HashMap<>();

    /** For DefaultSpeculator, which then calls {@code contextualize}. */
    public LateTaskRuntimeEstimator() {
        this(null);
    }

    LateTaskRuntimeEstimator(Containers containers) {
        super(containers);
    }

    @Override
    Rated launched(TaskAttemptId id, long nowMs, long reportIntervalMs) {
        return new Rated(id, nowMs, reportIntervalMs);
    }

    @Override
    void succeeded(Rated attempt) {
        if (attempt.workedMs() > 0) {
            ratesOfDone.computeIfAbsent(attempt.id.getTaskId().getTaskType(), type -> new ArrayList<>()).add(1.0 / attempt.workedMs());
        }
    }

    @Override
    long remainingMs(Rated attempt) {
        if (!isSlow(attempt)) {
            return UNKNOWN;
        }
        return attempt.rate() == 0 ? FOREVER_MS : (long) ((1 - attempt.progress) / attempt.rate());
    }

    @Override
    long newAttemptMs(TaskId task, Rated running) {
        return meanWorkedMs(task.getTaskType());
    }

    /** Whether at least three quarters of the others, running or done, are faster. */
    private boolean isSlow(Rated attempt) {
        TaskType type = attempt.id.getTaskId().getTaskType();
        List<Double> done = ratesOfDone.getOrDefault(type, Collections.emptyList());
        long others = done.size();
        long faster = done.stream().filter(rate -> rate > attempt.rate()).count();
        for (Rated other : launched()) {
            if (other != attempt && other.id.getTaskId().getTaskType() == type && other.shownMs > 0) {
                others++;
                faster += other.rate() > attempt.rate() ? 1 : 0;
            }
        }
        return faster >= (1 - SLOW_SHARE) * others;
    }

    /** An attempt with a rate of progress. */
    static final class Rated extends Attempt {
        private double progress;
        /** Progress and milliseconds of the observations that tell a speed. */
        private double shown;
        private long shownMs;

        Rated(TaskAttemptId id, long enrolledMs, long reportIntervalMs) {
            super(id, enrolledMs, reportIntervalMs);
        }

        @Override
        void observe(TaskAttemptStatus status, long ms, boolean speedTells) {
            double reached = status == null ? progress : Math.max(progress, status.progress);
            if (speedTells) {
                shown += reached - progress;
                shownMs += ms;
            }
            progress = reached;
        }

        /** Mean progress per millisecond worked. */
        private double rate() {
            return shown / shownMs;
        }
    }
}
