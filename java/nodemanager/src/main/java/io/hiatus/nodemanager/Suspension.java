package io.hiatus.nodemanager;

import io.hiatus.nodemanager.SuspendableContainer.Reason;
import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.server.nodemanager.ContainerExecutor.Signal;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerKillEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainerLaunch;
import org.apache.hadoop.yarn.server.nodemanager.util.ProcessIdFileReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the two container executors share: the containers launched on this node, and the means to suspend them. */
final class Suspension {
    private static final Logger LOG = LoggerFactory.getLogger(Suspension.class);
    private static final int TIMER_THREADS = 2;
    private static final long LOOK_AGAIN_MS = 20;

    private final SuspensionConf conf;
    private final ScheduledExecutorService timer;
    private final OrphanGuard guard;
    private final Map<ContainerId, SuspendableContainer> containers = new ConcurrentHashMap<>();
    private final Set<ContainerId> recoveredPaused = ConcurrentHashMap.newKeySet();

    /**
     * Reads the settings and prepares the NodeManager for suspension: see {@link NodeManagerSetup}.
     *
     * @throws IOException a setting is wrong: the NodeManager does not start, and says why
     */
    static Suspension prepare(Configuration nodeManagerConf) throws IOException {
        try {
            SuspensionConf conf = new SuspensionConf(nodeManagerConf);
            NodeManagerSetup.prepare(nodeManagerConf);
            return new Suspension(conf);
        } catch (IllegalArgumentException e) {
            throw new IOException("Wrong setting of a suspending container executor: " + e.getMessage(), e);
        }
    }

    Suspension(SuspensionConf conf) {
        this.conf = conf;
        this.guard = new OrphanGuard(conf.orphanGraceMs);
        this.timer = timer();
    }

    /** Not one of Hadoop's: those log a stack trace for each task that is cancelled, as every pulse is in the end. */
    static ScheduledExecutorService timer() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(TIMER_THREADS, task -> {
            Thread thread = Executors.defaultThreadFactory().newThread(task);
            thread.setName("Hiatus pulse");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        return timer;
    }

    /** The container is about to be launched, perhaps once more: how an attempt before ended says nothing of this one. */
    void track(ContainerId id, Path pidFile) {
        if (pidFile != null && hasExited(pidFile) && !exitCodeFile(pidFile).delete()) {
            LOG.warn("{} cannot be deleted: should this NodeManager restart, {} cannot be suspended", exitCodeFile(pidFile), id);
        }
        containers.put(id, newContainer(id));
    }

    /** Whether it is launched, or taken over, and has not ended: others cannot be suspended. */
    boolean has(ContainerId id) {
        return containers.containsKey(id);
    }

    /** Its launch has returned. */
    void forget(ContainerId id) {
        SuspendableContainer container = containers.remove(id);
        if (container != null) {
            container.close();
        }
    }

    /** The state store says that this container was paused when the earlier NodeManager ended. */
    void expectPaused(ContainerId id) {
        recoveredPaused.add(id);
    }

    /**
     * Takes a container over from an earlier NodeManager: brings it into the state that one had stored, from which it may
     * have ended half a step away: within a pulse, or between stopping a container and storing so. One that cannot be
     * brought there is killed, as after a pause that fails.
     */
    void takeOver(Container container, Path pidFile, Signaller signaller) {
        ContainerId id = container.getContainerId();
        boolean paused = recoveredPaused.remove(id);
        if (pidFile == null || hasExited(pidFile)) {
            return;
        }
        try {
            Suspender how = suspender(id, pidFile, signaller);
            SuspendableContainer tracked = newContainer(id);
            synchronized (tracked) { // orders come from now on, and wait for this
                containers.put(id, tracked);
                // Unless it has been promoted meanwhile.
                boolean held = holdMark(id, pidFile).exists()
                    && container.getContainerTokenIdentifier().getExecutionType() == ExecutionType.OPPORTUNISTIC;
                if (paused) {
                    tracked.suspendAgain(Reason.PAUSED, how);
                }
                if (held) {
                    tracked.suspendAgain(Reason.HELD, how);
                }
                if (!paused && !held) {
                    how.resume();
                }
            }
        } catch (IOException e) {
            LOG.warn("{} could not be restored as {}: killing it", id, paused ? "paused" : "running", e);
            container.handle(new ContainerKillEvent(id, ContainerExitStatus.PREEMPTED,
                "Could not be restored after a NodeManager restart: " + e.getMessage()));
        }
    }

    /**
     * Pauses a container; returns when all its processes are seen stopped.
     *
     * @throws IOException when it is not suspended; the NodeManager then kills it
     */
    void suspend(ContainerId id, Path pidFile, Signaller signaller) throws IOException {
        if (pidFile == null) {
            throw new IOException(id + " is no longer active");
        }
        container(id).suspend(Reason.PAUSED, suspender(id, pidFile, signaller));
    }

    /** Resumes a paused container; returns when all its processes are seen running, unless it is held. */
    void resume(ContainerId id) throws IOException {
        container(id).resume(Reason.PAUSED);
    }

    /**
     * Holds a container, paused or not, or lets it go. A mark beside its pid file tells the next NodeManager.
     *
     * @param wanted asked when it is this call's turn, so that of several calls at once the last one does what is wanted
     * @return whether that changed anything
     * @throws IOException when it is not held, or does not run again
     */
    boolean hold(ContainerId id, Path pidFile, Signaller signaller, BooleanSupplier wanted) throws IOException {
        if (pidFile == null) {
            throw new IOException(id + " is no longer active");
        }
        File mark = holdMark(id, pidFile);
        SuspendableContainer container = container(id);
        synchronized (container) {
            boolean before = mark.exists();
            boolean after = wanted.getAsBoolean();
            if (after) {
                container.suspend(Reason.HELD, suspender(id, pidFile, signaller));
                Files.write(mark.toPath(), new byte[0]);
            } else {
                container.resume(Reason.HELD); // first: a mark that cannot be deleted is no reason to stand still
                Files.deleteIfExists(mark.toPath());
            }
            return before != after;
        }
    }

    /** Has a signal of YARN's own sent, such that a suspended container gets it if it is to end by it. */
    boolean signal(ContainerId id, Signal signal, SuspendableContainer.Kill send) throws IOException {
        SuspendableContainer container = containers.get(id);
        if (container == null || signal != Signal.TERM && signal != Signal.KILL) {
            return send.send();
        }
        return container.kill(send);
    }

    /** The NodeManager stops: no more pulses. What is suspended stays so, for recovery. */
    void close() {
        timer.shutdownNow();
        for (ContainerId id : containers.keySet()) {
            forget(id);
        }
    }

    private SuspendableContainer newContainer(ContainerId id) {
        return new SuspendableContainer(id, conf, timer, guard);
    }

    private SuspendableContainer container(ContainerId id) throws IOException {
        SuspendableContainer container = containers.get(id);
        if (container == null) {
            throw new IOException(id + " is not running");
        }
        return container;
    }

    private Suspender suspender(ContainerId id, Path pidFile, Signaller signaller) throws IOException {
        ContainerProcesses processes = new ContainerProcesses(awaitLeader(id, pidFile));
        CgroupFreezer freezer =
            conf.freezerEnabled ? CgroupFreezer.of(processes.leader.pid, id.toString()) : null;
        return new Suspender(conf, processes, signaller, freezer, new File(pidFile.toString()).getParentFile());
    }

    /** YARN calls a container running a moment before there is a process; the process opens its session as it starts. */
    private ProcessInfo awaitLeader(ContainerId id, Path pidFile) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(conf.signalTimeoutMs);
        do {
            String pid = new File(pidFile.toString()).exists() ? ProcessIdFileReader.getProcessId(pidFile) : null;
            ProcessInfo leader = pid == null ? null : ProcFs.process(Integer.parseInt(pid));
            if (leader != null && leader.session == leader.pid && !leader.isGone()) {
                return leader;
            }
            try {
                Thread.sleep(LOOK_AGAIN_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while waiting for the first process of " + id);
            }
        } while (System.nanoTime() < deadline && !hasExited(pidFile));
        throw new IOException(id + " has no process that leads a session (pid file " + pidFile + ")");
    }

    private static File holdMark(ContainerId id, Path pidFile) {
        return new File(new File(pidFile.toString()).getParentFile(), id + ".held");
    }

    private static boolean hasExited(Path pidFile) {
        return exitCodeFile(pidFile).exists();
    }

    private static File exitCodeFile(Path pidFile) {
        return new File(ContainerLaunch.getExitCodeFile(pidFile.toString()));
    }
}
