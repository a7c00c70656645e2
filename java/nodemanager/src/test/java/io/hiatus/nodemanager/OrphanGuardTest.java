package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** With a NodeManager that is a process of its own, so that it can be killed. */
public class OrphanGuardTest {
    private static final String OWNER = TestContainer.ID + ".suspended-by";

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();
    private final List<Process> nodeManagers = new ArrayList<>();

    /** A NodeManager's part: guards what its arguments say, and waits to be killed. */
    public static final class Guarding {
        private Guarding() {
        }

        /** Arguments: grace in ms, directory, first process, resume command, and "resumed" if it is resumed again. */
        public static void main(String[] args) throws InterruptedException, IOException {
            OrphanGuard guard = new OrphanGuard(Long.parseLong(args[0]));
            guard.watch(TestContainer.ID, new File(args[1]), Integer.parseInt(args[2]), args[3]);
            if (args.length > 4) {
                guard.unwatch(TestContainer.ID);
                Files.createFile(Paths.get(args[1], args[4]));
            }
            Thread.sleep(TimeUnit.MINUTES.toMillis(10));
        }
    }

    private Process nodeManager(TestContainer container, String... more) throws IOException {
        return nodeManager(0, container, more);
    }

    private Process nodeManager(long graceMs, TestContainer container, String... more) throws IOException {
        Suspender suspender = container.suspender(new Configuration(false));
        suspender.stop(() -> false);
        List<String> command = new ArrayList<>(Arrays.asList(
            new File(System.getProperty("java.home"), "bin/java").getPath(), "-cp",
            System.getProperty("java.class.path"), Guarding.class.getName(), Long.toString(graceMs),
            container.directory.getPath(), Integer.toString(suspender.leader()), suspender.resumeCommand()));
        command.addAll(Arrays.asList(more));
        Process started = new ProcessBuilder(command).start();
        nodeManagers.add(started);
        return started;
    }

    @After
    public void stop() {
        nodeManagers.forEach(Process::destroyForcibly);
    }

    @Test
    public void whenTheNodeManagerIsKilledItsSuspendedContainersRunOn() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "setsid sleep 600 & sleep 600 & wait", 3)) {
            Process nodeManager = nodeManager(container);
            await().until(() -> container.has(OWNER));
            assertTrue(container.allStopped());
            nodeManager.destroyForcibly().waitFor();
            await().until(container::noneStopped);
            await().until(() -> !container.has(OWNER));
        }
    }

    @Test
    public void notIfAnotherNodeManagerHasTakenThemOver() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            Process first = nodeManager(container);
            await().until(() -> hasOwner(container));
            String firstGuard = container.read(OWNER);
            Process second = nodeManager(container);
            await().until(() -> !container.read(OWNER).isEmpty() && !container.read(OWNER).equals(firstGuard));
            first.destroyForcibly().waitFor();
            awaitEnd(Integer.parseInt(firstGuard));
            assertTrue(container.allStopped());
            second.destroyForcibly().waitFor();
            await().until(container::noneStopped);
        }
    }

    /** A NodeManager without recovery begins by clearing away what its predecessor left; who is stopped is still there. */
    @Test
    public void whatTheNextNodeManagerKnowsNothingOfRunsOnAfterTheGrace() throws Exception {
        try (TestContainer container = new TestContainer(folder.newFolder(), "sleep 600; true", 2)) {
            Process nodeManager = nodeManager(TimeUnit.SECONDS.toMillis(2), container);
            await().until(() -> hasOwner(container));
            nodeManager.destroyForcibly().waitFor();
            // At once: a guard that looks meanwhile must not find the directory without its file.
            assertTrue(container.directory.renameTo(new File(folder.getRoot(), "away")));
            await().until(container::noneStopped);
        }
    }

    /** With a grace of an hour: who waits for that is still there when the test ends. */
    private int guardOfAKilledNodeManager(TestContainer container) throws Exception {
        Process nodeManager = nodeManager(TimeUnit.HOURS.toMillis(1), container);
        await().until(() -> hasOwner(container));
        int guard = Integer.parseInt(container.read(OWNER));
        nodeManager.destroyForcibly().waitFor();
        Thread.sleep(200);
        assertTrue("it waits", container.allStopped() && ProcFs.process(guard) != null);
        return guard;
    }

    /** The shell makes the file before it writes into it. */
    private static boolean hasOwner(TestContainer container) throws IOException {
        return container.has(OWNER) && !container.read(OWNER).isEmpty();
    }

    private static void awaitEnd(int guard) {
        await().until(() -> ProcFs.process(guard) == null || ProcFs.process(guard).isGone());
    }

    @Test
    public void aGuardEndsWhenAnotherNodeManagerHasTakenOver() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            int guard = guardOfAKilledNodeManager(container);
            nodeManager(TimeUnit.HOURS.toMillis(1), container);
            awaitEnd(guard);
            assertTrue(container.allStopped());
        }
    }

    @Test
    public void aGuardEndsWhenAnotherNodeManagerHasResumedOrEndedIt() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            int guard = guardOfAKilledNodeManager(container);
            Files.delete(container.directory.toPath().resolve(OWNER));
            awaitEnd(guard);
            assertTrue("nobody touches it", container.allStopped());
        }
    }

    @Test
    public void aGuardEndsWithItsContainerAndContinuesWhatThatLeavesBehind() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "setsid sleep 600 & wait", 2)) {
            int guard = guardOfAKilledNodeManager(container);
            new ProcessBuilder("kill", "-KILL", "" + container.processes.leader.pid).start().waitFor();
            awaitEnd(guard);
            assertTrue(container.noneStopped());
            assertFalse(container.has(OWNER));
        }
    }

    @Test
    public void aResumedContainerIsNoLongerGuarded() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            Process nodeManager = nodeManager(container, "resumed");
            await().until(() -> container.has("resumed"));
            nodeManager.destroyForcibly().waitFor();
            for (int look = 0; look < 20; look++) {
                assertTrue("nobody touches it", container.allStopped());
                Thread.sleep(50);
            }
            assertFalse(container.has(OWNER));
        }
    }
}
