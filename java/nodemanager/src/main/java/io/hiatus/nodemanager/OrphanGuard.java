package io.hiatus.nodemanager;

import java.io.File;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that nothing stays stopped for ever when the NodeManager is killed: nobody else would continue a stopped
 * process. A shell, started with the first suspension and in a session of its own, is told over a pipe what is suspended
 * and how to continue it. When the pipe ends, and nobody has taken a container over within the time after which the
 * ResourceManager has given up the node and its work is done elsewhere, it continues that container's processes: they
 * then find out for themselves, as those of running containers do. It looks every second, and ends with the last container that
 * it could still be needed for. Who holds a container suspended is written next to
 * its pid file. A container resumed by the next NodeManager may be continued once more, which does nothing.
 */
final class OrphanGuard {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanGuard.class);

    /**
     * Reads lines of "container, owner file, its first process, commands", or of a container alone when it is no longer
     * suspended. Then it is over for a container when another NodeManager has it, or had it (the owner file is gone, if ever it could be
     * written, and its directory is not), and what one leaves stopped that has ended is continued at once. Where the directory is gone, too,
     * the next NodeManager began without the container and cleared its files away.
     */
    private static final String SCRIPT = "declare -A owner leader commands\n"
        + "forget() { unset \"owner[$1]\" \"leader[$1]\" \"commands[$1]\"; }\n"
        + "carry_on() { eval \"${commands[$1]}\"; [ \"${owner[$1]}\" = /dev/null ] || rm -f \"${owner[$1]}\"; forget \"$1\"; }\n"
        + "while IFS=$'\\t' read -r id file pid command; do\n"
        + "  if [ -n \"$file\" ]; then\n"
        + "    leader[$id]=$pid; commands[$id]=$command; owner[$id]=/dev/null; echo $$ > \"$file\" && owner[$id]=$file\n"
        + "  else [ \"${owner[$id]}\" = /dev/null ] || rm -f \"${owner[$id]}\"; forget \"$id\"; fi\n"
        + "done\n"
        + "for ((left = $1; ; left--)); do\n"
        + "  for id in \"${!owner[@]}\"; do\n"
        + "    holder=; [ \"${owner[$id]}\" = /dev/null ] && holder=$$ || read -r holder < \"${owner[$id]}\"\n"
        + "    if [ \"$holder\" != $$ ] && [ -d \"${owner[$id]%/*}\" ]; then forget \"$id\"\n"
        + "    elif [ $left -le 0 ] || [ ! -d \"/proc/${leader[$id]}\" ]; then carry_on \"$id\"; fi\n"
        + "  done\n"
        + "  [ ${#owner[@]} -eq 0 ] && exit\n"
        + "  sleep 1\n"
        + "done\n";

    private final long graceMs;
    private Writer guard;

    OrphanGuard(long graceMs) {
        this.graceMs = graceMs;
    }

    /** From now on the container is continued should this NodeManager die. */
    void watch(ContainerId id, Suspender suspended) {
        try {
            watch(id, suspended.home, suspended.leader(), suspended.resumeCommand());
        } catch (IOException e) {
            LOG.warn("No guard for {}: killed now, this NodeManager would leave it stopped", id, e);
        }
    }

    /**
     * The same.
     *
     * @param home a directory of this container that the NodeManager may write, the same after a restart
     * @param leader its first process
     * @param resumeCommand what continues it, for a shell
     */
    synchronized void watch(ContainerId id, File home, int leader, String resumeCommand) {
        tell(id + "\t" + new File(home, id + ".suspended-by") + "\t" + leader + "\t" + resumeCommand);
    }

    /** It runs again, or has ended. */
    synchronized void unwatch(ContainerId id) {
        if (guard != null) {
            tell(id.toString());
        }
    }

    private void tell(String line) {
        try {
            if (guard == null) {
                guard = start();
            }
            guard.write(line + "\n");
            guard.flush();
        } catch (IOException e) {
            guard = null;
            LOG.warn("No guard for suspended containers: killed now, this NodeManager would leave them stopped", e);
        }
    }

    private Writer start() throws IOException {
        File none = new File("/dev/null");
        Process shell = new ProcessBuilder("setsid", "bash", "-c", SCRIPT, "hiatus-orphan-guard",
            Long.toString(TimeUnit.MILLISECONDS.toSeconds(graceMs)))
            .redirectOutput(none).redirectError(none).start();
        return new OutputStreamWriter(shell.getOutputStream(), StandardCharsets.UTF_8);
    }
}
