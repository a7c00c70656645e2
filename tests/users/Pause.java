package io.hiatus.nodemanager;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.privileged.PrivilegedOperationExecutor;

/**
 * Suspends and resumes the processes that begin with one, as {@link HiatusLinuxContainerExecutor} does: a line of input each
 * time, a line of output when it is done. Arguments: container-executor, the user, the process, the container's id.
 */
public final class Pause {
    private Pause() {
    }

    public static void main(String[] args) throws Exception {
        YarnConfiguration conf = new YarnConfiguration();
        conf.set(YarnConfiguration.NM_LINUX_CONTAINER_EXECUTOR_PATH, args[0]);
        int pid = Integer.parseInt(args[2]);
        Signaller signaller =
            new ContainerExecutorSignaller(PrivilegedOperationExecutor.getInstance(conf), args[0], args[1], args[1]);
        Suspender suspender = new Suspender(new SuspensionConf(conf), new ContainerProcesses(ProcFs.process(pid)), signaller,
            CgroupFreezer.of(pid, args[3]), new File("."));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("suspend")) {
                suspender.stop(() -> false);
            } else {
                suspender.resume();
            }
            System.out.println(line + " by " + suspender.mechanism());
        }
    }
}
