package io.hiatus.nodemanager;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.exceptions.ConfigurationException;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerReacquisitionContext;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerSignalContext;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerStartContext;

/** YARN's default executor (containers run as the NodeManager's user), which also suspends. */
public final class HiatusDefaultContainerExecutor extends DefaultContainerExecutor implements SuspendingExecutor {
    private final Signaller signaller = new KillSignaller();
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
    public int reacquireContainer(ContainerReacquisitionContext ctx) throws IOException, InterruptedException {
        ContainerId id = ctx.getContainerId();
        try {
            suspension.takeOver(ctx.getContainer(), getPidFilePath(id), signaller);
            return super.reacquireContainer(ctx);
        } finally {
            suspension.forget(id);
        }
    }

    @Override
    public void pauseContainer(Container container) {
        ContainerId id = container.getContainerId();
        try {
            suspension.suspend(id, getPidFilePath(id), signaller);
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
        return suspension.hold(id, getPidFilePath(id), signaller, wanted);
    }

    @Override
    public boolean signalContainer(ContainerSignalContext ctx) throws IOException {
        return suspension.signal(ctx.getContainer().getContainerId(), ctx.getSignal(),
            () -> super.signalContainer(ctx));
    }
}
