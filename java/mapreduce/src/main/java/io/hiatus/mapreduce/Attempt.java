package io.hiatus.mapreduce;

import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;

/**
 * What is known of one launched attempt by its reports, and by its node where it sends none. Times are of the
 * ApplicationMaster's clock, in milliseconds.
 */
abstract class Attempt {
    /** Reports closer than this are taken together: a speed over less is noise. */
    private static final long SHORTEST_OBSERVATION_MS = 1_000;

    /** Why it is as quiet as it is. */
    private enum Standing {
        /** It reports, or has not been silent for long enough to ask its node. */
        HEARD,
        /** It is silent, and its node does not know why: it works without progress, hangs, or its node is lost. */
        SILENT,
        /** It is silent because it is suspended. */
        SUSPENDED
    }

    final TaskAttemptId id;
    final long enrolledMs;
    private final long reportIntervalMs;
    private Standing standing = Standing.HEARD;
    /** Its last report; at first its launch. */
    private long heardMs;
    /** Up to when it is counted what it worked. */
    private long countedMs;
    private long workedMs;
    private boolean observed;
    private long askAgainMs;
    /** Of its last report. */
    private Counters counters = new Counters();

    Attempt(TaskAttemptId id, long enrolledMs, long reportIntervalMs) {
        this.id = id;
        this.enrolledMs = enrolledMs;
        this.reportIntervalMs = reportIntervalMs;
        this.heardMs = enrolledMs;
        this.countedMs = enrolledMs;
    }

    /**
     * It has worked for so long since the last time.
     *
     * @param status its report; null where it sent none: no progress
     * @param speedTells whether work done in that time, divided by it, is its speed; not where part of it was spent suspended
     */
    abstract void observe(TaskAttemptStatus status, long ms, boolean speedTells);

    /** It reports. */
    void report(TaskAttemptStatus status, long nowMs) {
        long ms = nowMs - countedMs;
        heardMs = nowMs;
        counters = status.counters;
        askAgainMs = 0;
        boolean suspended = standing == Standing.SUSPENDED;
        standing = Standing.HEARD;
        if (suspended) {
            count(status, Math.min(ms, reportIntervalMs), nowMs, false);
        } else if (ms >= SHORTEST_OBSERVATION_MS) {
            count(status, ms, nowMs, true);
        }
    }

    /** Stock notes that nothing has changed for a while: time without progress, unless its node said that it is suspended, or was not asked yet. */
    void nothingNew(long nowMs) {
        if (standing == Standing.SILENT && nowMs - countedMs >= SHORTEST_OBSERVATION_MS) {
            count(null, nowMs - countedMs, nowMs, true);
        }
    }

    /**
     * It has ended well: all is done. Its last report may have told less; when a map ends, MapReduce repeats the report before,
     * and what follows that comes too close to be looked at.
     */
    void succeed(long nowMs) {
        TaskAttemptStatus all = new TaskAttemptStatus();
        all.progress = 1;
        all.counters = counters;
        long ms = Math.max(1, nowMs - countedMs);
        boolean suspended = standing == Standing.SUSPENDED;
        count(all, suspended ? Math.min(ms, reportIntervalMs) : ms, nowMs, !suspended);
    }

    private void count(TaskAttemptStatus status, long ms, long nowMs, boolean speedTells) {
        workedMs += ms;
        countedMs = nowMs;
        observed = speedTells;
        observe(status, ms, speedTells);
    }

    /** Whether its node should be asked: it is silent for longer than between reports, and was not asked of late. */
    boolean isDoubtful(long nowMs) {
        return nowMs - heardMs > reportIntervalMs + reportIntervalMs / 4 && nowMs >= askAgainMs;
    }

    /**
     * Its node has answered.
     *
     * @param askedMs when it was asked; an answer about a silence that is over meanwhile means nothing
     */
    void told(boolean suspended, long askedMs, long nowMs) {
        if (heardMs >= askedMs) {
            return;
        }
        if (suspended) {
            standing = Standing.SUSPENDED;
            observed = false;
            // It tells by itself when it goes on; this is for one that hangs from then on.
            askAgainMs = nowMs + 10 * reportIntervalMs;
        } else {
            if (standing == Standing.SUSPENDED) {
                countedMs = nowMs;
            }
            standing = Standing.SILENT;
            askAgainMs = nowMs + reportIntervalMs;
        }
    }

    /** Its node has not answered: what it said last stands. */
    void notTold(long askedMs, long nowMs) {
        if (heardMs >= askedMs) {
            return;
        }
        if (standing == Standing.HEARD) {
            standing = Standing.SILENT;
        }
        askAgainMs = nowMs + 10 * reportIntervalMs;
    }

    /**
     * Whether its speed is known as of now: it is not suspended, and has worked for a whole observation since it was. (A suspended
     * attempt reports at every pulse; one report is not enough.)
     */
    boolean isObserved() {
        return observed;
    }

    /** Time from its launch to its last observation, suspended or not. */
    long elapsedMs() {
        return countedMs - enrolledMs;
    }

    /** Time that it has worked for, suspensions left out. */
    long workedMs() {
        return workedMs;
    }
}
