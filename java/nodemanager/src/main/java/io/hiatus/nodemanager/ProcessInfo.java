package io.hiatus.nodemanager;

/** One process as {@code /proc} showed it at one moment. */
final class ProcessInfo {
    final int pid;
    final int parent;
    final int group;
    final int session;
    /** The state letter of proc(5). */
    final char state;
    /** Clock ticks since boot; with the pid it identifies a process for ever, as pids are used again. */
    final long startTicks;

    ProcessInfo(int pid, int parent, int group, int session, char state, long startTicks) {
        this.pid = pid;
        this.parent = parent;
        this.group = group;
        this.session = session;
        this.state = state;
        this.startTicks = startTicks;
    }

    /** Stopped by a signal, or by a debugger: it does no work, and SIGSTOP changes nothing. */
    boolean isStopped() {
        return state == 'T' || state == 't';
    }

    /** Stopped by a signal: SIGCONT is what it waits for. */
    boolean isStoppedBySignal() {
        return state == 'T';
    }

    /** A zombie or worse: it has ended and only waits to be reaped. */
    boolean isGone() {
        return state == 'Z' || state == 'X' || state == 'x';
    }

    boolean isSameProcess(ProcessInfo other) {
        return pid == other.pid && startTicks == other.startTicks;
    }

    @Override
    public String toString() {
        return pid + "(" + state + ")";
    }
}
