package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.hiatus.nodemanager.SuspendableContainer.Reason;
import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.hadoop.conf.Configuration;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class SuspendableContainerTest {
    private static final String TICKS = "touch ready; while :; do echo >> ticks; sleep 0.02; done";

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();
    private final Configuration conf = new Configuration(false);
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);

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
            pulses(3_600_000, 100);
            suspendable().suspendAgain(Reason.PAUSED, container.suspender(conf));
            long before = container.length("ticks");
            await().until(() -> container.length("ticks") > before);
            await().until(container::allStopped);
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
