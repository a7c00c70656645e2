package io.hiatus.mapreduce;

import java.util.EnumMap;
import java.util.Map;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.impl.TaskAttemptImpl;

/**
 * BatchMR's scheduler (Luo et al.): what is gained by a backup is told from an attempt's present speed in its present phase, from
 * the mean speeds of the phases to come, and from sizes and places. Stock backs up the task by which most is gained.
 */
public final class BatchMRTaskRuntimeEstimator extends SuspensionAwareEstimator<Phased> {
    private final Map<Phases, Phases.Means> means = new EnumMap<>(Phases.class);
    private int placedMaps;
    private double localities;

    /** For DefaultSpeculator, which then calls {@code contextualize}. */
    public BatchMRTaskRuntimeEstimator() {
        this(null);
    }

    BatchMRTaskRuntimeEstimator(Containers containers) {
        super(containers);
        for (Phases kind : Phases.values()) {
            means.put(kind, kind.means());
        }
    }

    @Override
    Phased launched(TaskAttemptId id, long nowMs, long reportIntervalMs) {
        if (isMap(id)) {
            placedMaps++;
            localities += locality(told(id));
        }
        Phases kind = !isMap(id) ? Phases.REDUCE : job(id.getTaskId()).getTotalReduces() > 0 ? Phases.MAP : Phases.MAP_ONLY;
        return new Phased(id, nowMs, reportIntervalMs, kind, means.get(kind));
    }

    @Override
    long remainingMs(Phased attempt) {
        double ms = attempt.remainingMs();
        return Double.isNaN(ms) ? UNKNOWN : (long) ms;
    }

    /** Nobody knows where the backup will run: as near to its data as the job's maps do on average. */
    @Override
    long newAttemptMs(TaskId task, Phased running) {
        double locality = isMap(running.id) ? localities / placedMaps / locality(told(running.id)) : 1;
        return (long) running.backupMs(locality);
    }

    @Override
    void succeeded(Phased attempt) {
        // Its phases were counted as it reported.
    }

    private static boolean isMap(TaskAttemptId id) {
        return id.getTaskId().getTaskType() == TaskType.MAP;
    }

    /** 1 beside its data, 2 in the same rack, 3 elsewhere. */
    private static int locality(TaskAttempt attempt) {
        return attempt instanceof TaskAttemptImpl ? 1 + ((TaskAttemptImpl) attempt).getLocality().ordinal() : 1;
    }
}
