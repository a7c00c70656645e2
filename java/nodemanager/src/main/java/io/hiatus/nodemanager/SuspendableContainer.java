package io.hiatus.nodemanager;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One launched container: running, suspended, in a pulse, or ending. All changes happen under its lock, so that no pulse
 * stops a resumed container or touches a killed one.
 */
final class SuspendableContainer {
    private static final Logger LOG = LoggerFactory.getLogger(SuspendableContainer.class);

    private enum State { RUNNING, SUSPENDED, PULSE, ENDING }

    /** Why a container stands still. It runs when there is no reason left. */
    enum Reason {
        /** The node's container scheduler paused it, because its room is needed. */
        PAUSED,
        /** Somebody put it aside, whether or not its room is needed. */
        HELD
    }

    /** Starts a signal of YARN's own: the executor's {@code signalContainer}. */
    interface Kill {
        boolean send() throws IOException;
    }

    private final ContainerId id;
    private final SuspensionConf conf;
    private final ScheduledExecutorService timer;
    private final OrphanGuard guard;
    /** Written under the lock; read without it by a pause under way, which gives way to a kill. */
    private volatile boolean ending;
    private State state = State.RUNNING;
    private final Set<Reason> reasons = EnumSet.noneOf(Reason.class);
    private Suspender suspender;
    private Future<?> nextPulseStep;

    SuspendableContainer(
            ContainerId id, SuspensionConf conf, ScheduledExecutorService timer, OrphanGuard guard) {
        this.guard = guard;
        this.id = id;
        this.conf = conf;
        this.timer = timer;
    }

    /**
     * Suspends the container, unless it stands still already: notice, stop, check, and pulses from now on.
     *
     * @throws IOException when it is not stopped; then it runs as before
     */
    void suspend(Reason why, Suspender how) throws IOException {
        suspend(why, how, System.nanoTime());
    }

    /**
     * Suspends again a container that was, when an earlier NodeManager ended. How long ago nobody knows, so the first
     * pulse comes at once.
     */
    void suspendAgain(Reason why, Suspender how) throws IOException {
        suspend(why, how, System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(conf.pulseIntervalMs));
    }

    /** @param ran when its processes last all ran, by the JVM's clock */
    private synchronized void suspend(Reason why, Suspender how, long ran) throws IOException {
        if (ending) {
            throw new IOException(id + " is ending and cannot be suspended");
        }
        if (state != State.RUNNING) {
            reasons.add(why);
            return;
        }
        long start = System.nanoTime();
        how.notice(this::isEnding);
        how.stop(this::isEnding);
        suspender = how;
        state = State.SUSPENDED;
        reasons.add(why);
        guard.watch(id, how);
        LOG.info("Suspended {} ({}) by {} in {} ms", id, why, how.mechanism(),
            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        nextPulse(ran);
    }

    /**
     * Takes a reason away and, if it was the last one, continues the container.
     *
     * @throws IOException when some process is still stopped; the reason stays, so that one may try again
     */
    synchronized void resume(Reason why) throws IOException {
        if (!reasons.remove(why) || !reasons.isEmpty() || state != State.SUSPENDED && state != State.PULSE) {
            return;
        }
        cancelPulse();
        try {
            suspender.resume();
        } catch (IOException e) {
            reasons.add(why);
            state = State.PULSE; // some may run: they are stopped again, pulses or not
            schedule(this::endPulse, conf.pulseLengthMs);
            throw e;
        }
        state = State.RUNNING;
        guard.unwatch(id);
        LOG.info("Resumed {}", id);
    }

    /**
     * Has YARN's TERM or KILL sent, and lets the processes run so that they receive it: a stopped process does not see
     * TERM, one in a cgroup v1 freezer not even KILL. There is no way back: nothing suspends this container again.
     */
    boolean kill(Kill kill) throws IOException {
        ending = true; // before the lock: whoever is stopping it holds that
        synchronized (this) {
            cancelPulse();
            state = State.ENDING;
            try {
                return kill.send();
            } finally {
                if (suspender != null) {
                    suspender.release();
                    guard.unwatch(id);
                }
            }
        }
    }

    /**
     * The launch is over. If because the container ended, processes it left behind stopped are continued: nobody else
     * would ever do that. If because this NodeManager stops, a suspended container stays so for the next one.
     */
    void close() {
        ending = true;
        synchronized (this) {
            cancelPulse();
            try {
                if (suspender != null && !suspender.isLeaderAlive()) {
                    suspender.release();
                    guard.unwatch(id);
                } else if (state == State.PULSE) {
                    suspender.stop(() -> false);
                }
            } catch (IOException e) {
                LOG.warn("Could not settle what {} left behind", id, e);
            }
            state = State.ENDING;
        }
    }

    private boolean isEnding() {
        return ending;
    }

    private synchronized void beginPulse() {
        if (state != State.SUSPENDED || ending) {
            return;
        }
        state = State.PULSE;
        try {
            suspender.release();
        } catch (IOException e) {
            LOG.warn("Pulse of {} failed: its processes may miss heartbeats", id, e);
        }
        schedule(this::endPulse, conf.pulseLengthMs);
    }

    private synchronized void endPulse() {
        if (state != State.PULSE || ending) {
            return;
        }
        long ran = System.nanoTime();
        try {
            suspender.stop(this::isEnding);
            state = State.SUSPENDED;
            guard.watch(id, suspender);
            nextPulse(ran);
        } catch (IOException e) {
            if (suspender.isLeaderAlive()) {
                LOG.warn("{} could not be stopped after a pulse and runs; trying again", id, e);
                schedule(this::endPulse, conf.pulseLengthMs);
            }
        }
    }

    /** An interval after its processes last all ran, and not after the last of them was stopped: the first may be who sends heartbeats. */
    private void nextPulse(long ran) {
        if (conf.pulseIntervalMs > 0) {
            schedule(this::beginPulse, conf.pulseIntervalMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - ran));
        }
    }

    private void schedule(Runnable step, long afterMs) {
        if (!timer.isShutdown()) {
            nextPulseStep = timer.schedule(() -> reporting(step), afterMs, TimeUnit.MILLISECONDS);
        }
    }

    /** What a timer catches nobody hears of. */
    private void reporting(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.error("No more pulses of {}", id, e);
        }
    }

    private void cancelPulse() {
        if (nextPulseStep != null) {
            nextPulseStep.cancel(false);
            nextPulseStep = null;
        }
    }
}
