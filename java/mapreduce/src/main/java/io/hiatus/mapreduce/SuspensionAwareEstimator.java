package io.hiatus.mapreduce;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.util.MRJobConfUtil;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;
import org.apache.hadoop.mapreduce.v2.app.speculate.DataStatistics;
import org.apache.hadoop.mapreduce.v2.app.speculate.TaskRuntimeEstimator;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What estimators for stock's DefaultSpeculator have in common when attempts may be suspended: they are judged by the time that
 * they worked, and not at all while they stand still. Stock backs up the task for which {@link #estimatedRuntime} promises
 * the latest end after that of a new attempt; -1 keeps it from that.
 */
abstract class SuspensionAwareEstimator<A extends Attempt> implements TaskRuntimeEstimator {
    /** Milliseconds, default 60000: an attempt that has worked for less is not judged. */
    public static final String MIN_RUN_MS = "mapreduce.job.hiatus.speculation.min-run-ms";
    /** Default of {@link #MIN_RUN_MS}. */
    public static final long DEFAULT_MIN_RUN_MS = 60_000;

    static final long UNKNOWN = -1;
    /** In milliseconds: what an attempt without any speed still needs, such that sums with points in time do not overflow. */
    static final long FOREVER_MS = 1L << 40;

    private static final Logger LOG = LoggerFactory.getLogger(SuspensionAwareEstimator.class);
    /** Like stock, nothing is judged before this share of the tasks of its kind is done, and one at least. */
    private static final double LEAST_SHARE_DONE = 0.05;
    private static final long LOOK_EVERY_MS = 1_000;

    private final Map<TaskAttemptId, A> attempts = new HashMap<>();
    private final Map<TaskType, DataStatistics> worked = new HashMap<>();
    private Containers containers;
    private boolean watching;
    private AppContext context;
    private float slowTaskThreshold;
    private long minRunMs;
    private long reportIntervalMs;

    /** {@code containers} to ask; null for the real nodes, regularly. */
    SuspensionAwareEstimator(Containers containers) {
        this.containers = containers;
        this.watching = containers != null;
    }

    /** A new attempt, just launched. */
    abstract A launched(TaskAttemptId id, long nowMs, long reportIntervalMs);

    /** Milliseconds of work that the attempt still needs after its last observation; {@link #UNKNOWN} where it should not be judged. */
    abstract long remainingMs(A attempt);

    /** Milliseconds that a new attempt of the task would take; {@link #UNKNOWN} where nothing is known. */
    abstract long newAttemptMs(TaskId task, A running);

    /** The attempt has ended well. */
    abstract void succeeded(A attempt);

    @Override
    public synchronized void contextualize(Configuration conf, AppContext appContext) {
        context = appContext;
        slowTaskThreshold = conf.getFloat(MRJobConfig.SPECULATIVE_SLOWTASK_THRESHOLD, 1);
        minRunMs = conf.getLong(MIN_RUN_MS, DEFAULT_MIN_RUN_MS);
        reportIntervalMs = MRJobConfUtil.getTaskProgressReportInterval(conf);
        if (!watching) { // stock calls this twice
            watching = true;
            containers = new NodeManagers(conf);
            Executors.newSingleThreadScheduledExecutor(work -> {
                Thread thread = new Thread(work, "Hiatus: asks nodes for suspended containers");
                thread.setDaemon(true);
                return thread;
            }).scheduleWithFixedDelay(this::lookSafely, LOOK_EVERY_MS, LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public synchronized void enrollAttempt(TaskAttemptStatus status, long nowMs) {
        attempts.put(status.id, launched(status.id, nowMs, reportIntervalMs));
    }

    @Override
    public synchronized long attemptEnrolledTime(TaskAttemptId id) {
        A attempt = attempts.get(id);
        return attempt == null ? Long.MAX_VALUE : attempt.enrolledMs;
    }

    @Override
    public synchronized void updateAttempt(TaskAttemptStatus status, long nowMs) {
        A attempt = attempts.get(status.id);
        if (attempt == null) {
            return;
        }
        if (status.counters == null) { // made up by DefaultSpeculator; each real report has some
            attempt.nothingNew(nowMs);
        } else {
            attempt.report(status, nowMs);
        }
    }

    /** As of stock, which compares it with {@link Long#MAX_VALUE} and nothing else: whether enough tasks are done to judge others by. */
    @Override
    public synchronized long thresholdRuntime(TaskId id) {
        Job job = job(id);
        boolean map = id.getTaskType() == TaskType.MAP;
        int done = map ? job.getCompletedMaps() : job.getCompletedReduces();
        int all = map ? job.getTotalMaps() : job.getTotalReduces();
        DataStatistics times = worked.get(id.getTaskType());
        boolean known = times != null && done >= Math.max(1, LEAST_SHARE_DONE * all);
        return known ? (long) times.outlier(slowTaskThreshold) : Long.MAX_VALUE;
    }

    @Override
    public synchronized long estimatedRuntime(TaskAttemptId id) {
        A attempt = attempts.get(id);
        if (attempt == null || !attempt.isObserved() || attempt.workedMs() < minRunMs) {
            return UNKNOWN;
        }
        long remainingMs = remainingMs(attempt);
        return remainingMs == UNKNOWN ? UNKNOWN : attempt.elapsedMs() + Math.min(remainingMs, FOREVER_MS);
    }

    @Override
    public synchronized long estimatedNewAttemptRuntime(TaskId id) {
        Task task = task(id);
        if (task != null) {
            for (TaskAttemptId attempt : task.getAttempts().keySet()) {
                A running = attempts.get(attempt);
                if (running != null) {
                    return Math.min(newAttemptMs(id, running), FOREVER_MS);
                }
            }
        }
        return UNKNOWN;
    }

    @Override
    public long runtimeEstimateVariance(TaskAttemptId id) {
        return UNKNOWN;
    }

    /** Mean time that attempts of this kind which ended well have worked, in ms; {@link #UNKNOWN} before the first has. */
    final long meanWorkedMs(TaskType type) {
        DataStatistics times = worked.get(type);
        return times == null ? UNKNOWN : (long) times.mean();
    }

    /** Those that are launched and have not ended. */
    final Iterable<A> launched() {
        return attempts.values();
    }

    /** Lets go what has ended, and asks the nodes about attempts that are silent. */
    void look() {
        long askedMs = context.getClock().getTime();
        for (Map.Entry<String, List<A>> one : doubtful(askedMs).entrySet()) {
            Map<ContainerId, A> asked = new HashMap<>();
            for (A attempt : one.getValue()) {
                asked.put(told(attempt.id).getAssignedContainerID(), attempt);
            }
            Set<ContainerId> suspended = null;
            try {
                suspended = containers.suspended(one.getKey(), asked.keySet());
            } catch (IOException | YarnException | RuntimeException e) { // such as for a name that no server knows: others are asked
                LOG.info("{} does not tell whether {} are suspended", one.getKey(), asked.keySet(), e);
            }
            answered(asked, suspended, askedMs);
        }
    }

    private void lookSafely() {
        try {
            look();
        } catch (RuntimeException e) {
            LOG.warn("Looking for suspended attempts failed", e); // an executor would stop looking, and say nothing
        }
    }

    /** By the node that they run on. */
    private synchronized Map<String, List<A>> doubtful(long nowMs) {
        Map<String, List<A>> found = new HashMap<>();
        for (Iterator<A> all = attempts.values().iterator(); all.hasNext();) {
            A attempt = all.next();
            TaskAttempt told = told(attempt.id);
            if (told == null || told.isFinished()) {
                all.remove();
                if (told != null && told.getState() == TaskAttemptState.SUCCEEDED) {
                    attempt.succeed(told.getFinishTime());
                    worked.computeIfAbsent(attempt.id.getTaskId().getTaskType(), type -> new DataStatistics()).add(attempt.workedMs());
                    succeeded(attempt);
                }
            } else if (attempt.isDoubtful(nowMs) && told.getAssignedContainerID() != null) {
                found.computeIfAbsent(told.getAssignedContainerMgrAddress(), node -> new ArrayList<>()).add(attempt);
            }
        }
        return found;
    }

    /** {@code suspended} is null where the node did not answer. */
    private synchronized void answered(Map<ContainerId, A> asked, Set<ContainerId> suspended, long askedMs) {
        long nowMs = context.getClock().getTime();
        asked.forEach((container, attempt) -> {
            if (suspended == null) {
                attempt.notTold(askedMs, nowMs);
            } else {
                attempt.told(suspended.contains(container), askedMs, nowMs);
            }
        });
    }

    final Job job(TaskId id) {
        return context.getJob(id.getJobId());
    }

    private Task task(TaskId id) {
        Job job = job(id);
        return job == null ? null : job.getTask(id);
    }

    /** As the ApplicationMaster knows it. */
    final TaskAttempt told(TaskAttemptId id) {
        Task task = task(id.getTaskId());
        return task == null ? null : task.getAttempt(id);
    }
}
