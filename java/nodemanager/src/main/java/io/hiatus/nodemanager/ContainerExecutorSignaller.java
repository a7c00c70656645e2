package io.hiatus.nodemanager;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.privileged.PrivilegedOperation;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.privileged.PrivilegedOperationException;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.privileged.PrivilegedOperationExecutor;

/**
 * Signals through the setuid {@code container-executor}, as the container's user: the NodeManager's own user may not.
 * It is the operation behind {@code LinuxContainerExecutor.signalContainer}, whose type of signal knows none of ours;
 * given the number of a process group it signals the group.
 */
final class ContainerExecutorSignaller implements Signaller {
    private static final String SIGNAL_CONTAINER =
        Integer.toString(PrivilegedOperation.RunAsUserCommand.SIGNAL_CONTAINER.getValue());

    private final PrivilegedOperationExecutor containerExecutor;
    private final String binary;
    private final String runAsUser;
    private final String user;

    ContainerExecutorSignaller(
            PrivilegedOperationExecutor containerExecutor, String binary, String runAsUser, String user) {
        this.containerExecutor = containerExecutor;
        this.binary = binary;
        this.runAsUser = runAsUser;
        this.user = user;
    }

    @Override
    public void send(JobSignal signal, Set<Integer> groups) throws IOException {
        for (int group : groups) {
            PrivilegedOperation operation =
                new PrivilegedOperation(PrivilegedOperation.OperationType.SIGNAL_CONTAINER);
            operation.appendArgs(runAsUser, user, SIGNAL_CONTAINER, Integer.toString(group),
                Integer.toString(signal.number));
            operation.disableFailureLogging();
            try {
                containerExecutor.executePrivilegedOperation(operation, false);
            } catch (PrivilegedOperationException e) {
                if (e.getExitCode() != PrivilegedOperation.ResultCode.INVALID_CONTAINER_PID.getValue()) {
                    throw new IOException("container-executor could not send SIG" + signal + " to process group "
                        + group + " as " + runAsUser + " (exit code " + e.getExitCode() + "): " + e.getErrorOutput(),
                        e);
                }
            }
        }
    }

    @Override
    public String command(JobSignal signal, Set<Integer> groups) {
        StringBuilder commands = new StringBuilder();
        for (int group : groups) {
            commands.append(String.join(" ", quoted(binary), quoted(runAsUser), quoted(user), SIGNAL_CONTAINER,
                Integer.toString(group), Integer.toString(signal.number))).append("; ");
        }
        return commands.toString();
    }

    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }
}
