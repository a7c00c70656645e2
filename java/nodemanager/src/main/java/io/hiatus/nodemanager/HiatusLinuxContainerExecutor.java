package io.hiatus.nodemanager;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.ConfigurationException;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerReacquisitionContext;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerSignalContext;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerStartContext;

/**
 * YARN's executor for secure clusters (containers run as their user), which also suspends: through the setuid
 * {@code container-executor}, unchanged.
 */
public final class HiatusLinuxContainerExecutor extends LinuxContainerExecutor implements SuspendingExecutor {
    private Suspension suspension;

    @Override
    public Suspension suspension() {
        return suspension;
    }

    @Override
    public void init(Context nmContext) throws IOException {
        super.init(nmContext);
        suspension = Suspension.prepare(getConf());
    }

    @Override
    public void stop() {
        suspension.close();
        super.stop();
    }

    @Override
    public int launchContainer(ContainerStartContext ctx) throws IOException, ConfigurationException {
        ContainerId id = ctx.getContainer().getContainerId();
        suspension.track(id, getPidFilePath(id));
        try {
            return super.launchContainer(ctx);
        } finally {
            suspension.forget(id);
        }
    }

    @Override
    public int relaunchContainer(ContainerStartContext ctx) throws IOException, ConfigurationException {
        ContainerId id = ctx.getContainer().getContainerId();
        suspension.track(id, getPidFilePath(id));
        try {
            return super.relaunchContainer(ctx);
        } finally {
            suspension.forget(id);
        }
    }

    @Override
    public int reacquireContainer(ContainerReacquisitionContext ctx) throws IOException, InterruptedException {
        ContainerId id = ctx.getContainerId();
        try {
            suspension.takeOver(ctx.getContainer(), getPidFilePath(id), signaller(ctx.getUser()));
            return super.reacquireContainer(ctx);
        } finally {
            suspension.forget(id);
        }
    }

    @Override
    public void pauseContainer(Container container) {
        ContainerId id = container.getContainerId();
        try {
            suspension.suspend(id, getPidFilePath(id), signaller(container.getUser()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void resumeContainer(Container container) {
        try {
            suspension.resume(container.getContainerId());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean hold(Container container, BooleanSupplier wanted) throws IOException {
        ContainerId id = container.getContainerId();
        return suspension.hold(id, getPidFilePath(id), signaller(container.getUser()), wanted);
    }

    @Override
    public boolean signalContainer(ContainerSignalContext ctx) throws IOException {
        return suspension.signal(ctx.getContainer().getContainerId(), ctx.getSignal(),
            () -> super.signalContainer(ctx));
    }

    private Signaller signaller(String user) {
        return new ContainerExecutorSignaller(getPrivilegedOperationExecutor(),
            getContainerExecutorExecutablePath(getConf()), runAsUser(user), user);
    }

    /** The super class's own rule, which it keeps to itself. */
    private String runAsUser(String user) {
        Configuration conf = getConf();
        boolean oneUserForAll = conf.getBoolean(YarnConfiguration.NM_NONSECURE_MODE_LIMIT_USERS,
            YarnConfiguration.DEFAULT_NM_NONSECURE_MODE_LIMIT_USERS);
        return UserGroupInformation.isSecurityEnabled() || !oneUserForAll ? user
            : conf.get(YarnConfiguration.NM_NONSECURE_MODE_LOCAL_USER_KEY,
                YarnConfiguration.DEFAULT_NM_NONSECURE_MODE_LOCAL_USER);
    }
}
