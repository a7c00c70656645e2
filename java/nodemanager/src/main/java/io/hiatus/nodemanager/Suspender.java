package io.hiatus.nodemanager;

import static io.hiatus.nodemanager.Signaller.JobSignal.CONT;
import static io.hiatus.nodemanager.Signaller.JobSignal.STOP;
import static io.hiatus.nodemanager.Signaller.JobSignal.TSTP;

import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * Stops all processes of one container and lets them run again, and believes neither before {@code /proc} shows it.
 * Not thread-safe: its owner, {@link SuspendableContainer}, locks.
 */
final class Suspender {
    private static final long LOOK_AGAIN_MS = 5;

    private final SuspensionConf conf;
    private final ContainerProcesses processes;
    private final Signaller signaller;
    /** Null where the container has no cgroup of its own that can be frozen. */
    private final CgroupFreezer freezer;
    /** Where the pid file is. */
    final File home;

    Suspender(SuspensionConf conf, ContainerProcesses processes, Signaller signaller, CgroupFreezer freezer,
            File home) {
        this.home = home;
        this.conf = conf;
        this.processes = processes;
        this.signaller = signaller;
        this.freezer = freezer;
    }

    /** How processes are held, for the log. */
    String mechanism() {
        return freezer == null ? "signals" : freezer.toString();
    }

    /** What lets everything run again, as a command for a shell. */
    String resumeCommand() throws IOException {
        String command = signaller.command(CONT, groups(processes.scan()));
        return freezer == null ? command : freezer.thawCommand() + command;
    }

    /** The process that leads the container's session. */
    int leader() {
        return processes.leader.pid;
    }

    boolean isLeaderAlive() {
        return processes.isLeaderAlive();
    }

    /**
     * SIGTSTP as a notice to the processes that handle it: so that they may save, let go of connections and stop. For
     * anybody else it would be lost: its default action is ignored in an orphaned process group, which a container is.
     * Returns when those have stopped, or their grace is over.
     */
    void notice(BooleanSupplier cancelled) throws IOException {
        if (conf.noticeGraceMs == 0) {
            return;
        }
        List<ProcessInfo> told = new ArrayList<>();
        for (ProcessInfo process : processes.scan()) {
            if (!process.isStopped() && ProcFs.handlesTstp(process.pid)) {
                told.add(process);
            }
        }
        if (told.isEmpty()) {
            return;
        }
        signaller.send(TSTP, groups(told));
        long deadline = deadline(conf.noticeGraceMs);
        while (System.nanoTime() < deadline && !cancelled.getAsBoolean() && anyRuns(told)) {
            pause();
        }
    }

    /**
     * Stops everything, without a notice. New children of processes that were not stopped yet are found by looking
     * again: it is over when two looks in a row show the same processes, all of them held.
     *
     * @throws IOException when a process is still not held after the time-out, none is left to hold, or the owner
     *         cancels; what was stopped then runs again, as far as it can be reached
     */
    void stop(BooleanSupplier cancelled) throws IOException {
        try {
            stopAll(cancelled);
        } catch (IOException | RuntimeException e) {
            try {
                release(any -> true); // one that hangs in the kernel may stop only later, unless it is told otherwise
            } catch (IOException next) {
                e.addSuppressed(next);
            }
            throw e;
        }
    }

    private void stopAll(BooleanSupplier cancelled) throws IOException {
        if (freezer != null) {
            freezer.freeze();
        }
        long deadline = deadline(conf.signalTimeoutMs);
        Set<Integer> lookedAllHeld = Collections.emptySet();
        while (true) {
            List<ProcessInfo> alive = processes.scan();
            if (alive.isEmpty()) {
                throw new IOException("process " + processes.leader.pid + " and its children have ended");
            }
            boolean frozen = freezer != null && freezer.isFrozen();
            List<ProcessInfo> running = new ArrayList<>();
            List<ProcessInfo> toSignal = new ArrayList<>();
            for (ProcessInfo process : alive) {
                boolean inFreezer = freezer != null && freezer.contains(process.pid);
                if (inFreezer ? !frozen : !process.isStopped()) {
                    running.add(process);
                    if (!inFreezer) {
                        toSignal.add(process);
                    }
                }
            }
            Set<Integer> pids = pids(alive);
            if (running.isEmpty() && pids.equals(lookedAllHeld)) {
                return;
            }
            lookedAllHeld = running.isEmpty() ? pids : Collections.<Integer>emptySet();
            if (cancelled.getAsBoolean()) {
                throw new IOException("cancelled: the container is being killed");
            }
            if (System.nanoTime() > deadline) {
                throw new IOException("still running " + conf.signalTimeoutMs + " ms after SIGSTOP: " + running);
            }
            if (!toSignal.isEmpty()) {
                signaller.send(STOP, groups(toSignal));
            }
            if (!running.isEmpty()) {
                pause();
            }
        }
    }

    /**
     * Lets everything run again.
     *
     * @throws IOException when a process is still held after the time-out
     */
    void resume() throws IOException {
        long deadline = deadline(conf.signalTimeoutMs);
        while (true) {
            List<ProcessInfo> stopped = release();
            if (stopped.isEmpty() && (freezer == null || !freezer.isFrozen())) {
                return;
            }
            if (System.nanoTime() > deadline) {
                throw new IOException("still stopped " + conf.signalTimeoutMs + " ms after SIGCONT: " + stopped);
            }
            pause();
        }
    }

    /**
     * One attempt at letting everything run: thaws, and continues what is stopped.
     *
     * @return those that were seen stopped
     */
    List<ProcessInfo> release() throws IOException {
        return release(ProcessInfo::isStoppedBySignal);
    }

    private List<ProcessInfo> release(Predicate<ProcessInfo> which) throws IOException {
        if (freezer != null) {
            freezer.thaw();
        }
        List<ProcessInfo> chosen = new ArrayList<>();
        for (ProcessInfo process : processes.scan()) {
            if (which.test(process)) {
                chosen.add(process);
            }
        }
        if (!chosen.isEmpty()) {
            signaller.send(CONT, groups(chosen));
        }
        return chosen;
    }

    private static boolean anyRuns(List<ProcessInfo> processes) {
        for (ProcessInfo process : processes) {
            ProcessInfo now = ProcFs.process(process.pid);
            if (now != null && now.isSameProcess(process) && !now.isStopped() && !now.isGone()) {
                return true;
            }
        }
        return false;
    }

    /** Groups, not processes, are signalled: the kernel does a group at once, so none forks away. */
    private static Set<Integer> groups(List<ProcessInfo> processes) {
        Set<Integer> groups = new TreeSet<>();
        for (ProcessInfo process : processes) {
            groups.add(process.group);
        }
        return groups;
    }

    private static Set<Integer> pids(List<ProcessInfo> processes) {
        Set<Integer> pids = new HashSet<>();
        for (ProcessInfo process : processes) {
            pids.add(process.pid);
        }
        return pids;
    }

    private static long deadline(long afterMs) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(afterMs);
    }

    private static void pause() throws InterruptedIOException {
        try {
            Thread.sleep(LOOK_AGAIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for processes to change their state");
        }
    }
}
