package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.after;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.SignalContainerCommand;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.event.AsyncDispatcher;
import org.apache.hadoop.yarn.event.Dispatcher;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.hadoop.yarn.security.ContainerTokenIdentifier;
import org.apache.hadoop.yarn.server.nodemanager.ContainerExecutor.Signal;
import org.apache.hadoop.yarn.server.nodemanager.ContainerExecutor;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.LocalDirsHandlerService;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.ContainerManagerImpl;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerEventType;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerPauseEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerState;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.UpdateContainerTokenEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainerLaunch;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainersLauncherEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainersLauncherEventType;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.SignalContainersLauncherEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.localizer.ResourceSet;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.monitor.ContainersMonitor;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.scheduler.ContainerScheduler;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.scheduler.ContainerSchedulerEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.scheduler.ContainerSchedulerEventType;
import org.apache.hadoop.yarn.server.nodemanager.metrics.NodeManagerMetrics;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService.RecoveredContainerState;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService.RecoveredContainerStatus;
import org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService;
import org.apache.hadoop.yarn.server.nodemanager.recovery.RecoveryIterator;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.mockito.ArgumentCaptor;

public class HiatusContainersLauncherTest {
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();
    private final HiatusContainersLauncher launcher = new HiatusContainersLauncher();
    private final List<Enum<?>> sent = new CopyOnWriteArrayList<>();
    private final NMStateStoreService store = mock(NMStateStoreService.class);
    private final Container container = mock(Container.class);
    private final ConcurrentMap<ContainerId, Container> containers = new ConcurrentHashMap<>();
    private final Suspension suspension = new Suspension(new SuspensionConf(new YarnConfiguration()));
    private final FakeExecutor executor = mock(FakeExecutor.class);
    private final Dispatcher dispatcher = mock(Dispatcher.class);
    /** Of the container. */
    private volatile ContainerState state;
    private ContainerScheduler scheduler;

    /** What the launcher needs to know of an executor. */
    abstract static class FakeExecutor extends ContainerExecutor implements SuspendingExecutor {
    }

    @Before
    @SuppressWarnings("rawtypes") // as in Dispatcher
    public void start() {
        when(container.getContainerId()).thenReturn(TestContainer.ID);
        when(container.getContainerState()).thenAnswer(call -> state);
        when(container.getLaunchContext()).thenReturn(RecoveredFilesTest.wanting());
        when(container.getResourceSet()).thenReturn(new ResourceSet());
        when(container.getResource()).thenReturn(Resource.newInstance(1024, 1));
        when(executor.suspension()).thenReturn(suspension);
        suspension.track(TestContainer.ID, null);
        when(dispatcher.getEventHandler()).thenReturn((Event event) -> sent.add((Enum<?>) event.getType()));
        LocalDirsHandlerService dirs = mock(LocalDirsHandlerService.class);
        when(dirs.getLocalDirsForRead()).thenReturn(Collections.singletonList(folder.getRoot().getPath()));
        Context context = mock(Context.class);
        when(context.getNMStateStore()).thenReturn(store);
        when(context.getApplications()).thenReturn(new ConcurrentHashMap<>());
        when(context.getContainers()).thenReturn(containers);
        when(context.getLocalDirsHandler()).thenReturn(dirs);
        ContainerManagerImpl manager = mock(ContainerManagerImpl.class);
        when(manager.getContainersMonitor()).thenReturn(mock(ContainersMonitor.class)); // no room at all
        when(context.getContainerManager()).thenReturn(manager);
        when(context.getConf()).thenReturn(new YarnConfiguration());
        scheduler = new ContainerScheduler(context, mock(AsyncDispatcher.class), mock(NodeManagerMetrics.class), 10);
        when(manager.getContainerScheduler()).thenReturn(scheduler);
        launcher.init(context, dispatcher, executor, dirs, manager);
        launcher.init(new YarnConfiguration());
    }

    @After
    public void stop() {
        launcher.containerLauncher.shutdownNow();
        suspension.close();
    }

    private void handle(ContainersLauncherEventType type, ContainerState in) {
        state = in;
        launcher.handle(new ContainersLauncherEvent(container, type));
    }

    /** The NodeManager's dispatcher hands an event meant for the container to the launcher, too, and first. */
    @SuppressWarnings({"rawtypes", "unchecked"}) // as in Dispatcher
    private void toContainer(ContainerEvent event) {
        containers.put(TestContainer.ID, container);
        ArgumentCaptor<EventHandler> listener = ArgumentCaptor.forClass(EventHandler.class);
        verify(dispatcher, atLeastOnce()).register(eq(ContainerEventType.class), listener.capture());
        listener.getValue().handle(event);
    }

    private void awaitSent(Enum<?> type, int count) {
        await().until(() -> sent.stream().filter(type::equals).count() == count);
    }

    @Test
    public void aContainerIsPausedAndResumedAsOftenAsAsked() throws Exception {
        for (int cycle = 1; cycle <= 3; cycle++) {
            handle(ContainersLauncherEventType.PAUSE_CONTAINER, ContainerState.PAUSING);
            awaitSent(ContainerEventType.CONTAINER_PAUSED, cycle);
            handle(ContainersLauncherEventType.RESUME_CONTAINER, ContainerState.RESUMING);
            awaitSent(ContainerEventType.CONTAINER_RESUMED, cycle);
        }
        verify(executor, times(3)).pauseContainer(container);
        verify(executor, times(3)).resumeContainer(container);
        verify(store, times(3)).storeContainerPaused(TestContainer.ID);
        verify(store, times(3)).removeContainerPaused(TestContainer.ID);
    }

    @Test
    public void whatCannotBePausedOrResumedIsKilled() {
        UncheckedIOException failure = new UncheckedIOException(new java.io.IOException("no"));
        doThrow(failure).when(executor).pauseContainer(container);
        doThrow(failure).when(executor).resumeContainer(container);
        handle(ContainersLauncherEventType.PAUSE_CONTAINER, ContainerState.PAUSING);
        awaitSent(ContainerEventType.KILL_CONTAINER, 1);
        handle(ContainersLauncherEventType.RESUME_CONTAINER, ContainerState.RESUMING);
        awaitSent(ContainerEventType.KILL_CONTAINER, 2);
        assertEquals(2, sent.size());
    }

    @Test
    public void aContainerWhoseRoomIsNeededWhileItIsBeingLaunchedIsPausedOnceItRuns() {
        isPausedAfter(ContainerEventType.CONTAINER_LAUNCHED, ContainerState.SCHEDULED);
    }

    @Test
    public void soIsOneThatIsTakenOverAfterARestart() {
        isPausedAfter(ContainerEventType.CONTAINER_LAUNCHED, ContainerState.LOCALIZING);
    }

    @Test
    public void soIsOneThatIsBeingResumed() {
        isPausedAfter(ContainerEventType.CONTAINER_RESUMED, ContainerState.RESUMING);
    }

    private void isPausedAfter(ContainerEventType runs, ContainerState before) {
        state = before;
        toContainer(new ContainerPauseEvent(TestContainer.ID, "room is needed"));
        assertTrue(sent.isEmpty());
        toContainer(new ContainerEvent(TestContainer.ID, runs));
        assertEquals(Collections.singletonList(ContainerEventType.PAUSE_CONTAINER), sent);
        toContainer(new ContainerEvent(TestContainer.ID, runs)); // of the next time
        assertEquals(1, sent.size());
    }

    /** YARN calls a container running, or paused after a restart, a moment before the executor has it. */
    @Test
    public void anOrderWaitsUntilTheExecutorHasTheContainer() {
        suspension.forget(TestContainer.ID);
        handle(ContainersLauncherEventType.PAUSE_CONTAINER, ContainerState.PAUSING);
        verify(executor, after(200).never()).pauseContainer(container);
        suspension.track(TestContainer.ID, null);
        awaitSent(ContainerEventType.CONTAINER_PAUSED, 1);
        suspension.forget(TestContainer.ID);
        handle(ContainersLauncherEventType.RESUME_CONTAINER, ContainerState.RESUMING);
        verify(executor, after(200).never()).resumeContainer(container);
        suspension.track(TestContainer.ID, null);
        awaitSent(ContainerEventType.CONTAINER_RESUMED, 1);
    }

    @Test
    public void aContainerThatEndsWellWhileItIsBeingPausedIsCleanedUp() {
        ContainerEvent end = new ContainerEvent(TestContainer.ID, ContainerEventType.CONTAINER_EXITED_WITH_SUCCESS);
        state = ContainerState.RUNNING;
        toContainer(end);
        verify(container, never()).handle(any());
        state = ContainerState.PAUSING;
        toContainer(end);
        verify(container).handle(argThat(event -> event.getType() == ContainerEventType.CONTAINER_PAUSED));
    }

    @Test
    public void aContainerIsKilledAndNotStartedWithoutTheFilesThatItHadBeforeARestart() throws Exception {
        when(container.getLaunchContext()).thenReturn(RecoveredFilesTest.wanting("job.jar"));
        when(store.loadLocalizationState()).thenThrow(new java.io.IOException("the disk is gone"));
        handle(ContainersLauncherEventType.LAUNCH_CONTAINER, ContainerState.SCHEDULED);
        awaitSent(ContainerEventType.KILL_CONTAINER, 1);
        assertEquals(1, sent.size());
    }

    /** After a restart: it is told to pause before it is paused, and then to go on, which was ordered first. */
    @Test
    public void oneThatGoesOnAfterARestartIsPausedAfterThatIfItsRoomIsNeededMeanwhile() {
        for (ContainerState before : new ContainerState[] {ContainerState.SCHEDULED, ContainerState.PAUSED}) {
            sent.clear();
            state = before;
            toContainer(new ContainerPauseEvent(TestContainer.ID, "room is needed"));
            toContainer(new ContainerEvent(TestContainer.ID, ContainerEventType.RECOVER_PAUSED_CONTAINER));
            assertTrue(sent.isEmpty());
            toContainer(new ContainerEvent(TestContainer.ID, ContainerEventType.CONTAINER_RESUMED));
            assertEquals(Collections.singletonList(ContainerEventType.PAUSE_CONTAINER), sent);
        }
    }

    @Test
    public void aContainerThatRunsIsPausedByYarnAlone() {
        state = ContainerState.RUNNING;
        toContainer(new ContainerPauseEvent(TestContainer.ID, "room is needed"));
        toContainer(new ContainerEvent(TestContainer.ID, ContainerEventType.CONTAINER_RESUMED));
        assertTrue(sent.isEmpty());
    }

    @Test
    public void aSlowPauseDoesNotHoldUpTheNodeManager() throws Exception {
        CountDownLatch paused = new CountDownLatch(1);
        doAnswer(call -> {
            paused.await();
            return null;
        }).when(executor).pauseContainer(container);
        handle(ContainersLauncherEventType.PAUSE_CONTAINER, ContainerState.PAUSING); // would not return
        assertTrue(sent.isEmpty());
        paused.countDown();
        awaitSent(ContainerEventType.CONTAINER_PAUSED, 1);
    }

    @Test
    public void aDemotedContainerIsHeldOnRequestUntilItIsPromoted() throws Exception {
        askForThreadDump(ExecutionType.OPPORTUNISTIC);
        ArgumentCaptor<BooleanSupplier> held = ArgumentCaptor.forClass(BooleanSupplier.class);
        verify(executor, timeout(10_000)).hold(eq(container), held.capture());
        assertTrue(held.getValue().getAsBoolean());
        toContainer(new UpdateContainerTokenEvent(TestContainer.ID, token(ExecutionType.GUARANTEED), false, true, true));
        verify(executor, timeout(10_000).times(2)).hold(eq(container), held.capture());
        assertFalse(held.getValue().getAsBoolean());
    }

    @Test
    public void whatCannotBeHeldAtOnceIsTriedAgain() throws Exception {
        when(executor.hold(any(), any())).thenThrow(new java.io.IOException("its disk is slow")).thenReturn(true);
        askForThreadDump(ExecutionType.OPPORTUNISTIC);
        awaitSent(ContainerEventType.UPDATE_DIAGNOSTICS_MSG, 1);
        verify(executor, times(2)).hold(eq(container), any());
    }

    @Test
    public void whereItLooksLikeRunningAnAdministratorIsToldThatItIsParked() throws Exception {
        when(executor.hold(any(), any())).thenReturn(true);
        askForThreadDump(ExecutionType.OPPORTUNISTIC);
        awaitSent(ContainerEventType.UPDATE_DIAGNOSTICS_MSG, 1);
        when(executor.hold(any(), any())).thenReturn(false);
        askForThreadDump(ExecutionType.OPPORTUNISTIC);
        verify(executor, timeout(10_000).times(2)).hold(eq(container), any());
        awaitSent(ContainerEventType.UPDATE_DIAGNOSTICS_MSG, 1);
    }

    @Test
    public void aThreadDumpOfAnyOtherContainerIsJustThat() throws Exception {
        ContainerLaunch launch = mock(ContainerLaunch.class);
        launcher.running.put(TestContainer.ID, launch);
        askForThreadDump(ExecutionType.GUARANTEED);
        verify(launch).signalContainer(SignalContainerCommand.OUTPUT_THREAD_DUMP);
        verify(executor, never()).hold(any(), any());
    }

    @Test
    public void oneThatIsYetToBeLaunchedIsHeldOnceItIs() throws Exception {
        suspension.forget(TestContainer.ID);
        askForThreadDump(ExecutionType.OPPORTUNISTIC, ContainerState.SCHEDULED);
        verify(executor, after(200).never()).hold(any(), any());
        toContainer(new ContainerEvent(TestContainer.ID, ContainerEventType.CONTAINER_LAUNCHED));
        state = ContainerState.RUNNING;
        suspension.track(TestContainer.ID, null);
        verify(executor, timeout(10_000)).hold(eq(container), any());
    }

    private void askForThreadDump(ExecutionType type) {
        askForThreadDump(type, ContainerState.RUNNING);
    }

    private void askForThreadDump(ExecutionType type, ContainerState in) {
        ContainerTokenIdentifier token = token(type);
        when(container.getContainerTokenIdentifier()).thenReturn(token);
        state = in;
        launcher.handle(new SignalContainersLauncherEvent(container, SignalContainerCommand.OUTPUT_THREAD_DUMP));
    }

    private static ContainerTokenIdentifier token(ExecutionType type) {
        ContainerTokenIdentifier token = mock(ContainerTokenIdentifier.class);
        when(token.getExecutionType()).thenReturn(type);
        return token;
    }

    @Test
    public void aContainerBeingKilledIsNotPaused() throws Exception {
        handle(ContainersLauncherEventType.PAUSE_CONTAINER, ContainerState.KILLING);
        launcher.containerLauncher.shutdown();
        assertTrue(launcher.containerLauncher.awaitTermination(10, java.util.concurrent.TimeUnit.SECONDS));
        verify(executor, never()).pauseContainer(container);
        assertTrue(sent.isEmpty());
    }

    @Test
    public void aContainerPausedBeforeARestartIsKilledAfterIt() throws Exception {
        CountDownLatch ends = new CountDownLatch(1);
        when(executor.reacquireContainer(any())).thenAnswer(call -> {
            ends.await();
            return 0;
        });
        String application = TestContainer.ID.getApplicationAttemptId().getApplicationId().toString();
        Path home = folder.getRoot().toPath().resolve("nmPrivate").resolve(application).resolve(TestContainer.ID + "");
        Files.createDirectories(home);
        Files.write(home.resolve(TestContainer.ID + ".pid"), "4711\n".getBytes(StandardCharsets.US_ASCII));
        handle(ContainersLauncherEventType.RECOVER_PAUSED_CONTAINER, ContainerState.SCHEDULED);
        awaitSent(ContainerEventType.RECOVER_PAUSED_CONTAINER, 1);
        verify(executor, timeout(10_000)).reacquireContainer(any());
        handle(ContainersLauncherEventType.CLEANUP_CONTAINER, ContainerState.KILLING);
        for (Signal signal : new Signal[] {Signal.TERM, Signal.KILL}) {
            verify(executor, timeout(10_000)).signalContainer(
                argThat(sent -> sent.getSignal() == signal && sent.getPid().equals("4711")));
        }
        ends.countDown();
    }

    @Test
    public void withRoomForItAPausedContainerGoesOnAfterARestart() {
        handle(ContainersLauncherEventType.RECOVER_PAUSED_CONTAINER, ContainerState.SCHEDULED); // the container's
        handle(ContainersLauncherEventType.RECOVER_PAUSED_CONTAINER, ContainerState.SCHEDULED); // the scheduler's
        goesOnOncePaused();
    }

    @Test
    public void evenIfTheSchedulerIsFasterThanTheContainer() {
        handle(ContainersLauncherEventType.RECOVER_PAUSED_CONTAINER, ContainerState.LOCALIZING); // the scheduler's
        assertTrue(launcher.running.isEmpty());
        handle(ContainersLauncherEventType.RECOVER_PAUSED_CONTAINER, ContainerState.SCHEDULED); // the container's
        goesOnOncePaused();
    }

    @Test
    public void evenIfItIsPausedJustAfterItWasLookedAt() {
        Thread test = Thread.currentThread();
        when(container.getContainerState()).thenAnswer(call -> {
            ContainerState seen = state;
            if (Thread.currentThread() != test) {
                state = ContainerState.PAUSED;
            }
            return seen;
        });
        for (int event = 0; event < 2; event++) { // the container's and the scheduler's
            handle(ContainersLauncherEventType.RECOVER_PAUSED_CONTAINER, ContainerState.SCHEDULED);
        }
        awaitSent(ContainerEventType.RESUME_CONTAINER, 1);
    }

    @Test
    public void aContainerThatRanThroughARestartIsTakenOverWithoutLookingForRoom() throws Exception {
        RecoveredContainerState stored = mock(RecoveredContainerState.class);
        when(stored.getContainerId()).thenReturn(TestContainer.ID);
        when(stored.getStatus()).thenReturn(RecoveredContainerStatus.LAUNCHED);
        @SuppressWarnings("unchecked")
        RecoveryIterator<RecoveredContainerState> states = mock(RecoveryIterator.class);
        when(states.hasNext()).thenReturn(true, false);
        when(states.next()).thenReturn(stored);
        when(store.canRecover()).thenReturn(true);
        when(store.getContainerStateIterator()).thenReturn(states);
        containers.put(TestContainer.ID, container);
        ContainerTokenIdentifier token = token(ExecutionType.GUARANTEED);
        when(container.getContainerTokenIdentifier()).thenReturn(token);
        state = ContainerState.LOCALIZING;
        launcher.start();
        state = ContainerState.SCHEDULED;
        awaitSent(ContainersLauncherEventType.RECOVER_CONTAINER, 1);
        scheduler.handle(new ContainerSchedulerEvent(container, ContainerSchedulerEventType.SCHEDULE_CONTAINER));
        assertEquals("it looks for room, of which there is none", 1, scheduler.getNumQueuedGuaranteedContainers());
        for (int event = 0; event < 2; event++) { // ours, and the scheduler's when it finds room
            launcher.handle(new ContainersLauncherEvent(container, ContainersLauncherEventType.RECOVER_CONTAINER));
        }
        awaitSent(ContainerEventType.CONTAINER_LAUNCHED, 1);
        assertEquals("but it has that", 0, scheduler.getNumQueuedGuaranteedContainers());
        launcher.containerLauncher.shutdown();
        assertTrue(launcher.containerLauncher.awaitTermination(10, java.util.concurrent.TimeUnit.SECONDS));
        awaitSent(ContainerEventType.CONTAINER_LAUNCHED, 1);
    }

    @Test
    public void aContainerThatWaitedForRoomAtARestartIsLaunchedOnceItIsReadyAndOnceOnly() throws Exception {
        handle(ContainersLauncherEventType.LAUNCH_CONTAINER, ContainerState.NEW);
        assertTrue(launcher.running.isEmpty());
        state = ContainerState.SCHEDULED;
        awaitSent(ContainersLauncherEventType.LAUNCH_CONTAINER, 1);
        handle(ContainersLauncherEventType.LAUNCH_CONTAINER, ContainerState.SCHEDULED);
        ContainerLaunch launch = launcher.running.get(TestContainer.ID);
        handle(ContainersLauncherEventType.LAUNCH_CONTAINER, ContainerState.SCHEDULED); // its scheduler's, again
        assertSame(launch, launcher.running.get(TestContainer.ID));
        toContainer(new ContainerEvent(TestContainer.ID, ContainerEventType.CONTAINER_LAUNCHED));
        handle(ContainersLauncherEventType.LAUNCH_CONTAINER, ContainerState.RUNNING); // and once more
        assertSame(launch, launcher.running.get(TestContainer.ID));
    }

    /** An application may have a container run something new; if that fails YARN goes back, and launches what ran before. */
    @Test
    public void aContainerIsLaunchedAgainWhenItGoesBackToWhatItRanBefore() {
        handle(ContainersLauncherEventType.LAUNCH_CONTAINER, ContainerState.SCHEDULED);
        ContainerLaunch failed = launcher.running.get(TestContainer.ID);
        toContainer(new ContainerEvent(TestContainer.ID, ContainerEventType.CONTAINER_LAUNCHED));
        toContainer(new ContainerEvent(TestContainer.ID, ContainerEventType.CONTAINER_EXITED_WITH_FAILURE));
        handle(ContainersLauncherEventType.LAUNCH_CONTAINER, ContainerState.SCHEDULED);
        assertNotSame(failed, launcher.running.get(TestContainer.ID));
    }

    private void goesOnOncePaused() {
        awaitSent(ContainerEventType.RECOVER_PAUSED_CONTAINER, 1);
        assertEquals(0, sent.stream().filter(ContainerEventType.RESUME_CONTAINER::equals).count());
        state = ContainerState.PAUSED;
        awaitSent(ContainerEventType.RESUME_CONTAINER, 1);
        assertEquals("recovered once", 1, launcher.running.size());
    }
}
