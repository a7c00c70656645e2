package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import io.hiatus.nodemanager.SuspendableContainer.Reason;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.mockito.ArgumentCaptor;

public class SuspendableContainerTest {
    private static final String TICKS = "touch ready; while :; do echo >> ticks; sleep 0.02; done";

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();
    private final Configuration conf = new Configuration(false);
    private final ScheduledExecutorService timer = Suspension.timer();

    @After
    public void stopTimer() {
        timer.shutdownNow();
    }

    private SuspendableContainer suspendable() {
        return new SuspendableContainer(TestContainer.ID, new SuspensionConf(conf), timer, new OrphanGuard(0));
    }

    private void pulses(long everyMs, long lengthMs) {
        conf.setLong(SuspensionConf.PULSE_INTERVAL_MS, everyMs);
        conf.setLong(SuspensionConf.PULSE_LENGTH_MS, lengthMs);
    }

    @Test
    public void aSuspendedContainerRunsInPulsesAndIsStoppedAgain() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TICKS, 2)) {
            pulses(200, 100);
            SuspendableContainer suspendable = suspendable();
            suspendable.suspend(Reason.PAUSED, container.suspender(conf));
            for (int pulse = 0; pulse < 3; pulse++) {
                await().until(container::allStopped);
                long before = container.length("ticks");
                await().until(() -> container.length("ticks") > before);
            }
            await().until(container::allStopped);
        }
    }

    @Test
    public void oneSuspendedSinceBeforeARestartIsPulsedAtOnce() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TICKS, 2)) {
            pulses(3_600_000, 2_000);
            suspendable().suspendAgain(Reason.PAUSED, container.suspender(conf));
            long before = container.length("ticks");
            await().until(() -> container.length("ticks") > before);
            await().until(container::allStopped);
        }
    }

    @Test
    public void theClockOfPulsesStartsWhenItsProcessesLastRan() throws Exception {
        // One that hears the notice and goes on uses up the notice's grace; stopping by signal is slow, too.
        try (TestContainer container = new TestContainer(folder.getRoot(), "trap 'true' TSTP; " + TICKS, 2)) {
            await().until(() -> container.has("ready"));
            pulses(30_000, 100);
            conf.setLong(SuspensionConf.NOTICE_GRACE_MS, 300);
            KillSignaller slow = new KillSignaller() {
                @Override
                public void send(JobSignal signal, Set<Integer> groups) throws IOException {
                    super.send(signal, groups);
                    try {
                        Thread.sleep(signal == JobSignal.STOP ? 200 : 0);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
            };
            ScheduledExecutorService clock = mock(ScheduledExecutorService.class);
            ArgumentCaptor<Runnable> step = ArgumentCaptor.forClass(Runnable.class);
            ArgumentCaptor<Long> afterMs = ArgumentCaptor.forClass(Long.class);
            SuspendableContainer suspendable =
                new SuspendableContainer(TestContainer.ID, new SuspensionConf(conf), clock, new OrphanGuard(0));
            suspendable.suspend(Reason.PAUSED, container.suspender(conf, slow));
            for (int pulse = 1; pulse <= 2; pulse++) {
                verify(clock, times(2 * pulse - 1)).schedule(step.capture(), afterMs.capture(), eq(TimeUnit.MILLISECONDS));
                long stopping = pulse == 1 ? 500 : 200;
                assertTrue("pulse " + pulse + " after " + afterMs.getValue(), afterMs.getValue() <= 30_000 - stopping);
                step.getValue().run(); // the pulse begins
                verify(clock, times(2 * pulse)).schedule(step.capture(), afterMs.capture(), eq(TimeUnit.MILLISECONDS));
                step.getValue().run(); // and ends
            }
            suspendable.resume(Reason.PAUSED);
        }
    }

    @Test
    public void aResumeThatFailsMayBeTriedAgain() throws Exception {
        AtomicBoolean fails = new AtomicBoolean(true);
        KillSignaller signaller = new KillSignaller() {
            @Override
            public void send(JobSignal signal, Set<Integer> groups) throws IOException {
                super.send(signal, groups);
                if (signal == JobSignal.CONT && fails.getAndSet(false)) {
                    throw new IOException("no memory for another process");
                }
            }
        };
        try (TestContainer container = new TestContainer(folder.getRoot(), TICKS, 2)) {
            pulses(0, 50);
            SuspendableContainer suspendable = suspendable();
            suspendable.suspend(Reason.HELD, container.suspender(conf, signaller));
            assertThrows(IOException.class, () -> suspendable.resume(Reason.HELD));
            await().until(container::allStopped);
            suspendable.resume(Reason.HELD);
            assertTrue(container.noneStopped());
        }
    }

    @Test
    public void resumingAndEndingLogNoStackTraces() throws Exception {
        List<LoggingEvent> traces = new CopyOnWriteArrayList<>();
        AppenderSkeleton listening = new AppenderSkeleton() {
            @Override
            protected void append(LoggingEvent event) {
                if (event.getThrowableInformation() != null) {
                    traces.add(event);
                }
            }

            @Override
            public void close() {
            }

            @Override
            public boolean requiresLayout() {
                return false;
            }
        };
        Logger.getRootLogger().addAppender(listening);
        try (TestContainer container = new TestContainer(folder.getRoot(), TICKS, 2)) {
            pulses(40, 20);
            SuspendableContainer suspendable = suspendable();
            for (int cycle = 0; cycle < 10; cycle++) {
                suspendable.suspend(Reason.PAUSED, container.suspender(conf));
                Thread.sleep(5 * cycle);
                suspendable.resume(Reason.PAUSED);
            }
            suspendable.suspend(Reason.PAUSED, container.suspender(conf));
            suspendable.close();
            Thread.sleep(200);
            assertEquals("[]", traces.toString());
        } finally {
            Logger.getRootLogger().removeAppender(listening);
        }
    }

    @Test
    public void withoutPulsesItDoesNothing() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TICKS, 2)) {
            conf.setLong(SuspensionConf.PULSE_INTERVAL_MS, 0);
            suspendable().suspend(Reason.PAUSED, container.suspender(conf));
            long before = container.length("ticks");
            Thread.sleep(500);
            assertEquals(before, container.length("ticks"));
            assertTrue(container.allStopped());
        }
    }

    @Test
    public void noPulseTouchesAResumedContainer() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TICKS, 2)) {
            pulses(40, 20);
            SuspendableContainer suspendable = suspendable();
            for (int cycle = 0; cycle < 20; cycle++) {
                suspendable.suspend(Reason.PAUSED, container.suspender(conf));
                Thread.sleep(10 * (cycle % 8)); // resumed before, in and after pulses
                suspendable.resume(Reason.PAUSED);
                for (int look = 0; look < 10; look++) {
                    assertTrue(container.noneStopped());
                    Thread.sleep(5);
                }
            }
        }
    }

    @Test
    public void aSuspendedContainerGetsItsTermAndNobodyIsLeftStopped() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(),
                "trap 'echo bye > bye; exit 3' TERM; setsid sleep 600 & touch ready; while :; do sleep 0.02; done", 3)) {
            await().until(() -> container.has("ready"));
            SuspendableContainer suspendable = suspendable();
            suspendable.suspend(Reason.PAUSED, container.suspender(conf));
            suspendable.kill(() -> signal("TERM", container));
            assertEquals(3, container.process.waitFor());
            assertEquals("bye", container.read("bye"));
            assertEquals("the child in a session of its own", 1, container.processes.scan().size());
            assertTrue(container.noneStopped());
        }
    }

    @Test
    public void aKilledContainerIsNeitherSuspendedNorPulsed() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "trap '' TERM; " + TICKS, 2)) {
            pulses(40, 20);
            SuspendableContainer suspendable = suspendable();
            suspendable.suspend(Reason.PAUSED, container.suspender(conf));
            suspendable.kill(() -> signal("TERM", container));
            await().until(container::noneStopped);
            assertThrows(IOException.class, () -> suspendable.suspend(Reason.PAUSED, container.suspender(conf)));
            for (int look = 0; look < 20; look++) {
                assertTrue(container.noneStopped());
                Thread.sleep(10);
            }
        }
    }

    @Test
    public void whatAnEndedContainerLeavesStoppedIsContinued() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "setsid sleep 600 & wait", 2)) {
            SuspendableContainer suspendable = suspendable();
            suspendable.suspend(Reason.PAUSED, container.suspender(conf));
            new ProcessBuilder("kill", "-KILL", "" + container.processes.leader.pid).start().waitFor(); // say, the OOM killer
            await().until(() -> !container.processes.isLeaderAlive());
            suspendable.close();
            assertEquals(1, container.processes.scan().size());
            await().until(container::noneStopped);
        }
    }

    @Test
    public void aStoppingNodeManagerLeavesASuspendedContainerSo() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TICKS, 2)) {
            pulses(200, 100);
            SuspendableContainer suspendable = suspendable();
            suspendable.suspend(Reason.PAUSED, container.suspender(conf));
            await().until(container::noneStopped); // in a pulse
            suspendable.close();
            assertTrue(container.allStopped());
        }
    }

    private static boolean signal(String signal, TestContainer container) throws IOException {
        org.apache.hadoop.util.Shell.execCommand(
            "bash", "-c", "kill -s " + signal + " -- -" + container.processes.leader.pid);
        return true;
    }
}
