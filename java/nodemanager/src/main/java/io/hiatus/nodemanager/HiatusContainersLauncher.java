package io.hiatus.nodemanager;

import java.io.IOException;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.SignalContainerCommand;
import org.apache.hadoop.yarn.event.Dispatcher;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.hadoop.yarn.server.nodemanager.ContainerExecutor;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.LocalDirsHandlerService;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.ContainerManagerImpl;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerDiagnosticsUpdateEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerEventType;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerKillEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerPauseEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerResumeEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerState;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.UpdateContainerTokenEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainerLaunch;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainersLauncher;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainersLauncherEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainersLauncherEventType;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.RecoverPausedContainerLaunch;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.SignalContainersLauncherEvent;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService.RecoveredContainerState;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService.RecoveredContainerStatus;
import org.apache.hadoop.yarn.server.nodemanager.recovery.RecoveryIterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * YARN's launcher, with pausing and resuming that can be relied on. YARN 3.4.2's own
 * <ul>
 * <li>pauses a container once in its life: its flag is not reset when it is resumed, so the second time neither pauses nor
 * answers, and the container that waits for the room waits on;</li>
 * <li>loses the order to pause a container that is just being launched or resumed: the one that waits for its room would
 * wait until some container ends;</li>
 * <li>calls a container running, or paused after a restart, a moment before it is in the executor's hands: an order in
 * that moment would fail, and end in a kill;</li>
 * <li>forgets a paused container at a NodeManager restart: it could neither be resumed nor killed, and its
 * processes would stay stopped for ever;</li>
 * <li>looks for room for containers that ran through such a restart and already hold their room, once containers wait for
 * room at all (a queue length above 0, which suspension needs): on a full node nobody would notice their end, and they would
 * be told to the ResourceManager as containers in whose way suspended ones are ({@link RoomQueue});</li>
 * <li>starts a container that waited for room at a restart before it has its files, in vain, or once more when there is room
 * again; and without them where it had them before the restart ({@link RecoveredFiles});</li>
 * <li>stops containers on the NodeManager's one event thread, which a slow one would hold up.</li>
 * </ul>
 * {@link NodeManagerSetup} puts it there.
 */
public final class HiatusContainersLauncher extends ContainersLauncher {
    private static final Logger LOG = LoggerFactory.getLogger(HiatusContainersLauncher.class);
    private static final long LOOK_AGAIN_MS = 20;
    private static final long SETTLE_AGAIN_MS = 2_000;

    /** The states a recovered container goes through before it runs or is paused again. */
    private static final Set<ContainerState> STARTING =
        EnumSet.of(ContainerState.NEW, ContainerState.LOCALIZING, ContainerState.SCHEDULED);
    /** Those in which it cannot be launched yet. */
    private static final Set<ContainerState> UNREADY = EnumSet.of(ContainerState.NEW, ContainerState.LOCALIZING);
    /** Those in which YARN takes it for launched. */
    private static final Set<ContainerState> LAUNCHED =
        EnumSet.of(ContainerState.RUNNING, ContainerState.PAUSING, ContainerState.PAUSED, ContainerState.RESUMING);
    /** Those in which it has no answer to the order to pause; who is ordered to has room there, and will run. */
    private static final Set<ContainerState> ABOUT_TO_RUN = EnumSet.of(ContainerState.NEW, ContainerState.LOCALIZING,
        ContainerState.SCHEDULED, ContainerState.PAUSED, ContainerState.RESUMING);

    private final Set<ContainerId> recovered = ConcurrentHashMap.newKeySet();
    /** Launched, and not heard of since; known to the dispatcher's thread alone. */
    private final Set<ContainerId> beingLaunched = new HashSet<>();
    /** Ordered to pause while about to run; likewise. */
    private final Set<ContainerId> pauseMissed = new HashSet<>();
    /** Put aside by the ResourceManager; changed by the dispatcher's thread alone. */
    private final Set<ContainerId> held = ConcurrentHashMap.newKeySet();
    private Context context;
    private Dispatcher dispatcher;
    private ContainerExecutor executor;
    private LocalDirsHandlerService dirsHandler;
    private ContainerManagerImpl containerManager;

    @Override
    public void init(Context nmContext, Dispatcher nmDispatcher, ContainerExecutor containerExec,
            LocalDirsHandlerService nmDirsHandler, ContainerManagerImpl nmContainerManager) {
        super.init(nmContext, nmDispatcher, containerExec, nmDirsHandler, nmContainerManager);
        context = nmContext;
        dispatcher = nmDispatcher;
        executor = containerExec;
        dirsHandler = nmDirsHandler;
        containerManager = nmContainerManager;
        // Registered before the containers' own, and so called before that.
        dispatcher.register(ContainerEventType.class, (EventHandler<ContainerEvent>) this::watch);
    }

    /**
     * A container has no answer to the order to pause while it is being launched or resumed: it gets the order again when
     * it runs. One that ends well while it is being paused would stay for ever, with nothing cleaned up and nobody told;
     * from PAUSED it knows the way. One that is to be held is, once it is launched, and is let go when it is promoted.
     */
    private void watch(ContainerEvent event) {
        ContainerId id = event.getContainerID();
        switch (event.getType()) {
            case PAUSE_CONTAINER:
                Container container = context.getContainers().get(id);
                if (container != null && ABOUT_TO_RUN.contains(container.getContainerState())) {
                    pauseMissed.add(id);
                }
                break;
            case CONTAINER_LAUNCHED:
                beingLaunched.remove(id);
                holdIfWanted(id);
                pauseIfMissed(id);
                break;
            case RECOVER_PAUSED_CONTAINER: // an order to pause is for when it goes on, as only what was given room is told to
                holdIfWanted(id);
                break;
            case CONTAINER_RESUMED:
                pauseIfMissed(id);
                break;
            case CONTAINER_EXITED_WITH_SUCCESS:
                Container ended = context.getContainers().get(id);
                if (ended != null && ended.getContainerState() == ContainerState.PAUSING) {
                    ended.handle(new ContainerEvent(id, ContainerEventType.CONTAINER_PAUSED));
                }
                break;
            case UPDATE_CONTAINER_TOKEN:
                if (((UpdateContainerTokenEvent) event).getUpdatedToken().getExecutionType() == ExecutionType.GUARANTEED) {
                    held.remove(id);
                    settleHold(context.getContainers().get(id));
                }
                break;
            case CONTAINER_RESOURCES_CLEANEDUP:
                beingLaunched.remove(id);
                pauseMissed.remove(id);
                held.remove(id);
                break;
            default:
                break;
        }
    }

    private void holdIfWanted(ContainerId id) {
        Container launched = context.getContainers().get(id);
        if (launched != null && held.contains(id)) {
            containerLauncher.submit(() -> {
                awaitState(launched, ContainerState.RUNNING); // it hears of this after us
                settleHold(launched);
            });
        }
    }

    private void pauseIfMissed(ContainerId id) {
        if (pauseMissed.remove(id)) {
            dispatch(new ContainerPauseEvent(id, "Its room was needed before it ran"));
        }
    }

    @Override
    protected void serviceStart() throws Exception {
        super.serviceStart();
        if (context.getNMStateStore().canRecover()) {
            takeOverRunning();
        }
    }

    @Override
    public void handle(ContainersLauncherEvent event) {
        Container container = event.getContainer();
        switch (event.getType()) {
            case LAUNCH_CONTAINER:
                launch(event);
                break;
            case PAUSE_CONTAINER:
                containerLauncher.submit(() -> pause(container));
                break;
            case RESUME_CONTAINER:
                containerLauncher.submit(() -> resume(container));
                break;
            case RECOVER_CONTAINER:
                if (!running.containsKey(container.getContainerId())) { // the scheduler's comes after ours
                    super.handle(event);
                    RoomQueue.leave(containerManager.getContainerScheduler(), container.getContainerId());
                }
                break;
            case RECOVER_PAUSED_CONTAINER:
                recoverPaused(container);
                break;
            case SIGNAL_CONTAINER:
                if (asksToHold((SignalContainersLauncherEvent) event)) {
                    held.add(container.getContainerId());
                    settleHold(container);
                } else {
                    super.handle(event);
                }
                break;
            default:
                super.handle(event);
        }
    }

    private void launch(ContainersLauncherEvent event) {
        Container container = event.getContainer();
        if (LAUNCHED.contains(container.getContainerState()) || beingLaunched.contains(container.getContainerId())) {
            return; // after a restart it may be ordered twice
        }
        if (UNREADY.contains(container.getContainerState())) {
            containerLauncher.submit(() -> {
                if (awaitState(container, ContainerState.SCHEDULED)) {
                    dispatch(event);
                }
            });
        } else if (RecoveredFiles.areLost(container)) {
            containerLauncher.submit(() -> restoreFiles(event));
        } else {
            beingLaunched.add(container.getContainerId());
            super.handle(event);
        }
    }

    private void restoreFiles(ContainersLauncherEvent launch) {
        Container container = launch.getContainer();
        try {
            RecoveredFiles.restore(container, context.getNMStateStore());
        } catch (IOException | RuntimeException e) {
            kill(container, "it waited for room at a restart of the NodeManager, and its files were not found again", e);
            return;
        }
        LOG.info("{} has its files again", container.getContainerId());
        dispatch(launch);
    }

    /**
     * To a demoted container a thread dump is of no use, and so the ResourceManager's way to say, within YARN's protocol,
     * that it is to stand still until it is promoted, even where its room is not needed.
     */
    private static boolean asksToHold(SignalContainersLauncherEvent event) {
        return event.getCommand() == SignalContainerCommand.OUTPUT_THREAD_DUMP
            && event.getContainer().getContainerTokenIdentifier().getExecutionType() == ExecutionType.OPPORTUNISTIC;
    }

    /** To the node's container scheduler a container that is held is what it was: running, or paused. */
    private void settleHold(Container container) {
        if (container == null) {
            return;
        }
        containerLauncher.submit(() -> {
            while (awaitLaunched(container) && !isHoldSettled(container) && pass(SETTLE_AGAIN_MS)) {
                // Nobody else would try again: the ResourceManager orders it once.
            }
        });
    }

    private boolean isHoldSettled(Container container) {
        ContainerId id = container.getContainerId();
        try {
            if (suspending().hold(container, () -> held.contains(id))) {
                // The node calls it running, or paused, as before: this is where an administrator sees more.
                dispatch(new ContainerDiagnosticsUpdateEvent(id, held.contains(id)
                    ? "Parked by hand: its processes stand still until it is taken up again.\n" : "Taken up again.\n"));
            }
            return true;
        } catch (IOException e) {
            if (!LAUNCHED.contains(container.getContainerState())) {
                return true; // it has ended, or is being killed
            }
            LOG.warn("{} is not {} as it should be, and it is tried again", id, held.contains(id) ? "held" : "let go", e);
            return false;
        }
    }

    private void pause(Container container) {
        if (!awaitLaunched(container) || container.getContainerState() != ContainerState.PAUSING) {
            return; // it has ended, or is being killed
        }
        ContainerId id = container.getContainerId();
        try {
            executor.pauseContainer(container);
        } catch (RuntimeException e) {
            kill(container, "it could not be suspended", e);
            return;
        }
        try {
            context.getNMStateStore().storeContainerPaused(id);
        } catch (IOException e) {
            LOG.warn("Could not store that {} is paused: a NodeManager restart would let it run", id, e);
        }
        send(new ContainerEvent(id, ContainerEventType.CONTAINER_PAUSED), container, ContainerState.PAUSING);
    }

    private void resume(Container container) {
        if (!awaitLaunched(container) || container.getContainerState() != ContainerState.RESUMING) {
            return;
        }
        ContainerId id = container.getContainerId();
        try {
            executor.resumeContainer(container);
        } catch (RuntimeException e) {
            kill(container, "it could not be resumed", e);
            return;
        }
        try {
            context.getNMStateStore().removeContainerPaused(id);
        } catch (IOException e) {
            LOG.warn("Could not store that {} is resumed: a NodeManager restart would suspend it", id, e);
        }
        send(new ContainerEvent(id, ContainerEventType.CONTAINER_RESUMED), container, ContainerState.RESUMING);
    }

    /**
     * After a restart this event comes from the container; and a second time, before or after, from the node's container
     * scheduler, if there is room for it to go on at once.
     */
    private void recoverPaused(Container container) {
        ContainerId id = container.getContainerId();
        boolean roomToRun = !recovered.add(id);
        if (container.getContainerState() == ContainerState.SCHEDULED && !running.containsKey(id)) {
            suspending().suspension().expectPaused(id);
            ContainerLaunch launch = new RecoveredPausedLaunch(container);
            running.put(id, launch);
            containerLauncher.submit(launch);
        }
        if (roomToRun) {
            recovered.remove(id);
            containerLauncher.submit(() -> resumeOncePaused(container));
        }
    }

    /** YARN's own, but one that knows its process is there: cleaning up after "not launched" kills nothing. */
    private final class RecoveredPausedLaunch extends RecoverPausedContainerLaunch {
        RecoveredPausedLaunch(Container container) {
            super(HiatusContainersLauncher.this.context, getConfig(), HiatusContainersLauncher.this.dispatcher,
                executor, HiatusContainersLauncher.this.context.getApplications().get(
                    container.getContainerId().getApplicationAttemptId().getApplicationId()),
                container, HiatusContainersLauncher.this.dirsHandler,
                HiatusContainersLauncher.this.containerManager);
            containerAlreadyLaunched.set(true);
        }
    }

    private void resumeOncePaused(Container container) {
        if (awaitState(container, ContainerState.PAUSED)) {
            dispatch(new ContainerResumeEvent(container.getContainerId(), "Resumed after a NodeManager restart"));
        }
    }

    private void takeOverRunning() throws IOException {
        try (RecoveryIterator<RecoveredContainerState> stored = context.getNMStateStore().getContainerStateIterator()) {
            while (stored.hasNext()) {
                RecoveredContainerState state = stored.next();
                Container container = context.getContainers().get(state.getContainerId());
                if (container != null && state.getStatus() == RecoveredContainerStatus.LAUNCHED) {
                    containerLauncher.submit(() -> {
                        if (awaitState(container, ContainerState.SCHEDULED)) {
                            dispatch(new ContainersLauncherEvent(
                                container, ContainersLauncherEventType.RECOVER_CONTAINER));
                        }
                    });
                }
            }
        }
    }

    /** Recovery brings a container here, however long it takes, unless it has ended, or is being killed: then this gives up, false. */
    private static boolean awaitState(Container container, ContainerState state) {
        while (true) {
            ContainerState now = container.getContainerState(); // one look: it may change between two
            if (now == state) {
                return true;
            }
            if (!STARTING.contains(now) || !pass(LOOK_AGAIN_MS)) {
                return false;
            }
        }
    }

    /** Whoever orders something of a container waits here until the executor has it: false if it does not, or no more. */
    private boolean awaitLaunched(Container container) {
        while (!suspending().suspension().has(container.getContainerId())) {
            if (!LAUNCHED.contains(container.getContainerState()) || !pass(LOOK_AGAIN_MS)) {
                return false;
            }
        }
        return true;
    }

    /** False when the NodeManager stops. */
    private static boolean pass(long ms) {
        try {
            Thread.sleep(ms);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    private SuspendingExecutor suspending() {
        return (SuspendingExecutor) executor;
    }

    private void kill(Container container, String because, Exception cause) {
        ContainerId id = container.getContainerId();
        LOG.warn("Killing {}: {}", id, because, cause);
        dispatch(new ContainerKillEvent(id, ContainerExitStatus.PREEMPTED,
            "Container killed by the NodeManager: " + because + ": " + cause.getMessage()));
    }

    private void send(ContainerEvent event, Container container, ContainerState onlyIn) {
        if (container.getContainerState() == onlyIn) { // it may have been killed meanwhile
            dispatch(event);
        }
    }

    @SuppressWarnings("unchecked") // the dispatcher's handler is not typed
    private void dispatch(Event<?> event) {
        dispatcher.getEventHandler().handle(event);
    }
}
