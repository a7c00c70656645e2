package io.hiatus.nodemanager;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The processes of one container: those of its session, their descendants, and everybody in the sessions these opened.
 * Whoever was seen once is remembered, so that a process is still known when all its ancestors have died. (A process
 * that leaves the session and loses its parent between two looks escapes, as it escapes YARN's own kill.)
 */
final class ContainerProcesses {
    /** The process the pid file names. */
    final ProcessInfo leader;
    private final Map<Integer, ProcessInfo> seen = new HashMap<>();

    /**
     * @param leader leads a session of its own, so no process of another container is in its group
     */
    ContainerProcesses(ProcessInfo leader) {
        if (leader.session != leader.pid) {
            throw new IllegalArgumentException("process " + leader.pid + " leads no session");
        }
        this.leader = leader;
        seen.put(leader.pid, leader);
    }

    boolean isLeaderAlive() {
        ProcessInfo now = ProcFs.process(leader.pid);
        return now != null && now.isSameProcess(leader) && !now.isGone();
    }

    /** Looks again. A pid that now belongs to another process is not among the answer. */
    List<ProcessInfo> scan() throws IOException {
        List<ProcessInfo> all = ProcFs.processes();
        Set<Integer> members = new HashSet<>();
        Set<Integer> sessions = new HashSet<>();
        for (ProcessInfo process : all) {
            ProcessInfo known = seen.get(process.pid);
            if (known != null && known.isSameProcess(process)) {
                members.add(process.pid);
                sessions.add(process.session);
            }
        }
        boolean grown = !members.isEmpty();
        while (grown) {
            grown = false;
            for (ProcessInfo process : all) {
                if (!members.contains(process.pid)
                        && (sessions.contains(process.session) || members.contains(process.parent))) {
                    members.add(process.pid);
                    sessions.add(process.session);
                    grown = true;
                }
            }
        }
        seen.clear();
        List<ProcessInfo> alive = new ArrayList<>();
        for (ProcessInfo process : all) {
            if (members.contains(process.pid) && !process.isGone()) {
                seen.put(process.pid, process);
                alive.add(process);
            }
        }
        return alive;
    }
}
