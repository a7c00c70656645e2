package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.isA;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.ContainerTokenIdentifier;
import org.apache.hadoop.yarn.server.nodemanager.ContainerExecutor;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerKillEvent;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerReacquisitionContext;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerSignalContext;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The executor with the containers of an earlier NodeManager: launched and recovered ones are the same to it. */
public class HiatusDefaultContainerExecutorTest {
    private static final String TICKS = "while :; do echo >> ticks; sleep 0.02; done";

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();
    private final YarnConfiguration conf = new YarnConfiguration();
    private final HiatusDefaultContainerExecutor executor = new HiatusDefaultContainerExecutor();
    private final ExecutorService launches = Executors.newCachedThreadPool();
    private final Container container = mock(Container.class);

    @Before
    public void start() {
        when(container.getContainerId()).thenReturn(TestContainer.ID);
        when(container.getUser()).thenReturn("alice");
    }

    @After
    public void stop() {
        launches.shutdownNow();
    }

    private void init() throws IOException {
        conf.setLong(SuspensionConf.ORPHAN_GRACE_MS, 0); // nothing of a test outlives it
        executor.setConf(conf);
        executor.init(mock(Context.class));
    }

    private Future<Integer> reacquire(TestContainer test) {
        executor.activateContainer(TestContainer.ID, test.pidPath());
        return launches.submit(() -> executor.reacquireContainer(new ContainerReacquisitionContext.Builder()
            .setContainer(container).setContainerId(TestContainer.ID).setUser("alice").build()));
    }

    private boolean kill(TestContainer test, ContainerExecutor.Signal signal) throws IOException {
        return executor.signalContainer(new ContainerSignalContext.Builder().setContainer(container)
            .setUser("alice").setPid("" + test.processes.leader.pid).setSignal(signal).build());
    }

    @Test
    public void pausesResumesAndPausesAgain() throws Exception {
        init();
        try (TestContainer test = new TestContainer(folder.getRoot(), TICKS, 2)) {
            reacquire(test);
            await().until(this::isTracked);
            for (int cycle = 0; cycle < 3; cycle++) {
                executor.pauseContainer(container);
                assertTrue(test.allStopped());
                executor.resumeContainer(container);
                assertTrue(test.noneStopped());
            }
        }
    }

    @Test
    public void aPausedContainerIsKilledByTermAndItsExitCodeIsSeen() throws Exception {
        init();
        String script = "trap 'echo 3 > pid.exitcode; exit 3' TERM; touch ready; while :; do sleep 0.02; done";
        try (TestContainer test = new TestContainer(folder.getRoot(), script, 2)) {
            Future<Integer> exit = reacquire(test);
            await().until(() -> isTracked() && test.has("ready"));
            executor.pauseContainer(container);
            assertTrue(kill(test, ContainerExecutor.Signal.TERM));
            test.process.waitFor();
            assertEquals(3, (int) exit.get());
            assertThrows(UncheckedIOException.class, () -> executor.pauseContainer(container));
        }
    }

    @Test
    public void aPausedContainerIsKilledByKill() throws Exception {
        init();
        try (TestContainer test = new TestContainer(folder.getRoot(), TICKS, 2)) {
            reacquire(test);
            await().until(this::isTracked);
            executor.pauseContainer(container);
            assertTrue(kill(test, ContainerExecutor.Signal.KILL));
            assertEquals(137, test.process.waitFor());
            await().until(() -> test.processes.scan().isEmpty());
        }
    }

    @Test
    public void aContainerStoredAsPausedIsStoppedPulsedAndResumedAfterARestart() throws Exception {
        conf.setLong(SuspensionConf.PULSE_INTERVAL_MS, 200);
        conf.setLong(SuspensionConf.PULSE_LENGTH_MS, 100);
        init();
        try (TestContainer test = new TestContainer(folder.getRoot(), TICKS, 2)) {
            executor.suspension().expectPaused(TestContainer.ID); // the earlier NodeManager ended within a pulse
            reacquire(test);
            await().until(test::allStopped);
            long before = test.length("ticks");
            await().until(() -> test.length("ticks") > before);
            await().until(test::allStopped);
            executor.resumeContainer(container);
            assertTrue(test.noneStopped());
        }
    }

    @Test
    public void aContainerStoredAsRunningRunsAfterARestart() throws Exception {
        init();
        try (TestContainer test = new TestContainer(folder.getRoot(), TICKS, 2)) {
            test.suspender(conf).stop(() -> false); // the earlier NodeManager ended before it could store the pause
            reacquire(test);
            await().until(test::noneStopped);
        }
    }

    @Test
    public void howAnAttemptBeforeEndedSaysNothingOfTheOneThatIsTakenOver() throws Exception {
        init();
        try (TestContainer test = new TestContainer(folder.getRoot(), TICKS, 2)) {
            assertTrue(folder.newFile("pid.exitcode").exists()); // of the first attempt
            executor.suspension().track(TestContainer.ID, test.pidPath()); // the second, under an earlier NodeManager
            executor.suspension().forget(TestContainer.ID);
            reacquire(test);
            await().until(this::isTracked);
        }
    }

    /** The NodeManager calls it paused, and may resume it, before it is what the earlier one left. */
    @Test
    public void anOrderThatComesWhileAContainerIsTakenOverWaits() throws Exception {
        init();
        CountDownLatch goOn = new CountDownLatch(1);
        Signaller slow = mock(Signaller.class);
        doAnswer(call -> {
            goOn.await();
            new KillSignaller().send(call.getArgument(0), call.getArgument(1));
            return null;
        }).when(slow).send(any(), any());
        when(slow.command(any(), any())).thenReturn("true");
        try (TestContainer test = new TestContainer(folder.getRoot(), TICKS, 2)) {
            File elsewhere = new File(folder.getRoot(), "elsewhere");
            assertTrue(test.pidFile.renameTo(elsewhere));
            executor.suspension().expectPaused(TestContainer.ID);
            launches.submit(() -> executor.suspension().takeOver(container, test.pidPath(), slow));
            Thread.sleep(200);
            assertFalse("its processes are not known", isTracked());
            assertTrue(elsewhere.renameTo(test.pidFile));
            await().until(this::isTracked);
            Future<?> resumed = launches.submit(() -> executor.resumeContainer(container));
            assertThrows(TimeoutException.class, () -> resumed.get(200, TimeUnit.MILLISECONDS));
            goOn.countDown();
            resumed.get();
            assertTrue(test.noneStopped());
        }
    }

    @Test
    public void aHeldContainerStandsStillWhateverTheNodeManagersSchedulerDoes() throws Exception {
        init();
        try (TestContainer test = new TestContainer(folder.getRoot(), TICKS, 2)) {
            reacquire(test);
            await().until(this::isTracked);
            assertTrue("that is news", executor.hold(container, () -> true));
            assertFalse("and now no more", executor.hold(container, () -> true));
            assertTrue(test.allStopped());
            executor.pauseContainer(container);
            executor.resumeContainer(container);
            assertTrue("there is room for it again", test.allStopped());
            executor.pauseContainer(container);
            executor.hold(container, () -> false);
            assertTrue("there is none", test.allStopped());
            executor.resumeContainer(container);
            assertTrue(test.noneStopped());
        }
    }

    @Test
    public void aHeldContainerIsHeldAfterARestartUnlessItWasPromotedMeanwhile() throws Exception {
        for (ExecutionType type : new ExecutionType[] {ExecutionType.OPPORTUNISTIC, ExecutionType.GUARANTEED}) {
            init();
            ContainerTokenIdentifier token = mock(ContainerTokenIdentifier.class);
            when(token.getExecutionType()).thenReturn(type);
            when(container.getContainerTokenIdentifier()).thenReturn(token);
            File home = folder.newFolder();
            try (TestContainer test = new TestContainer(home, TICKS, 2)) {
                assertTrue(new File(home, TestContainer.ID + ".held").createNewFile()); // by the earlier NodeManager
                if (type == ExecutionType.GUARANTEED) {
                    test.suspender(conf).stop(() -> false);
                    reacquire(test);
                    await().until(test::noneStopped);
                } else {
                    reacquire(test);
                    await().until(() -> isTracked() && test.allStopped());
                    executor.resumeContainer(container);
                    await().until(test::allStopped);
                    executor.hold(container, () -> false);
                    assertTrue(test.noneStopped());
                }
            }
        }
    }

    @Test
    public void aContainerThatCannotBeRestoredIsKilled() throws Exception {
        conf.setLong(SuspensionConf.SIGNAL_TIMEOUT_MS, 100);
        init();
        executor.suspension().expectPaused(TestContainer.ID);
        executor.suspension().takeOver(container, new Path(folder.getRoot() + "/pid"), new KillSignaller());
        verify(container).handle(isA(ContainerKillEvent.class));
    }

    @Test
    public void aStoppedNodeManagerLeavesThePausedContainerToTheNext() throws Exception {
        init();
        try (TestContainer test = new TestContainer(folder.getRoot(), TICKS, 2)) {
            Future<Integer> exit = reacquire(test);
            await().until(this::isTracked);
            executor.pauseContainer(container);
            executor.stop();
            exit.cancel(true);
            Thread.sleep(200);
            assertTrue(test.allStopped());
        }
    }

    @Test
    public void aWrongSettingKeepsTheNodeManagerFromStarting() {
        conf.set(SuspensionConf.PULSE_INTERVAL_MS, "often");
        IOException refused = assertThrows(IOException.class, this::init);
        assertTrue(refused.getMessage(), refused.getMessage().contains(SuspensionConf.PULSE_INTERVAL_MS + "=often"));
    }

    private boolean isTracked() {
        return executor.suspension().has(TestContainer.ID);
    }
}
