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
 * then find out for themselves, as those of running containers do. Who holds a container suspended is written next to
 * its pid file. A container resumed by the next NodeManager may be continued once more, which does nothing.
 */
final class OrphanGuard {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanGuard.class);

    /** Lines of "container, owner file, commands", or of a container alone when it is no longer suspended. */
    private static final String SCRIPT = "declare -A owner commands\n"
        + "while IFS=$'\\t' read -r id file command; do\n"
        + "  if [ -n \"$file\" ]; then owner[$id]=$file; commands[$id]=$command; echo $$ > \"$file\"\n"
        + "  else rm -f \"${owner[$id]}\"; unset \"owner[$id]\" \"commands[$id]\"; fi\n"
        + "done\n"
        + "[ ${#owner[@]} -eq 0 ] && exit\n"
        + "sleep \"$1\"\n"
        + "for id in \"${!owner[@]}\"; do\n"
        + "  read -r holder 2> /dev/null < \"${owner[$id]}\"\n"
        + "  if [ \"${holder:-$$}\" = $$ ]; then eval \"${commands[$id]}\"; rm -f \"${owner[$id]}\"; fi\n"
        + "done\n";

    private final long graceMs;
    private Writer guard;

    OrphanGuard(long graceMs) {
        this.graceMs = graceMs;
    }

    /**
     * From now on the container is continued should this NodeManager die.
     *
     * @param home a directory of this container that the NodeManager may write, the same after a restart
     * @param resumeCommand what continues it, for a shell
     */
    synchronized void watch(ContainerId id, File home, String resumeCommand) {
        tell(id + "\t" + new File(home, id + ".suspended-by") + "\t" + resumeCommand);
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
