package io.hiatus.nodemanager;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.util.Shell;

/** Signals with the shell's kill, as DefaultContainerExecutor does: containers run as the NodeManager's user. */
class KillSignaller implements Signaller {
    @Override
    public void send(JobSignal signal, Set<Integer> groups) throws IOException {
        try {
            Shell.execCommand("bash", "-c", command(signal, groups));
        } catch (Shell.ExitCodeException e) {
            // Some group has ended; or may not be signalled, which the look at /proc that follows will show.
        }
    }

    @Override
    public String command(JobSignal signal, Set<Integer> groups) {
        StringBuilder kill = new StringBuilder("kill -s ").append(signal).append(" --");
        for (int group : groups) {
            kill.append(" -").append(group);
        }
        return kill.toString();
    }
}
