package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import io.hiatus.nodemanager.SuspendableContainer.Reason;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.Shell;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** On real cgroups, where this machine has them and lets us; skipped otherwise. */
public class CgroupFreezerTest {
    private static final String TICKS = "while :; do echo >> ticks; sleep 0.02; done";
    private static final File V1 = new File("/sys/fs/cgroup/freezer");

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();
    private final Configuration conf = new Configuration(false);
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
    private File cgroup;

    @After
    public void removeCgroup() {
        timer.shutdownNow();
        if (cgroup != null) {
            await().until(() -> cgroup.delete() && cgroup.getParentFile().delete());
        }
    }

    @Test
    public void v1HoldsAndReleasesTheWholeContainer() throws Exception {
        holdsAndReleases(V1);
    }

    @Test
    public void v2HoldsAndReleasesTheWholeContainer() throws Exception {
        holdsAndReleases(v2());
    }

    @Test
    public void v1AFrozenContainerDiesOfItsTermAndItsKill() throws Exception {
        dies(V1);
    }

    @Test
    public void v2AFrozenContainerDiesOfItsTermAndItsKill() throws Exception {
        dies(v2());
    }

    @Test
    public void aCgroupSharedWithOthersIsNotFrozen() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TICKS, 2)) {
            assertNull(CgroupFreezer.of(container.processes.leader.pid, TestContainer.ID.toString()));
        }
    }

    private void holdsAndReleases(File hierarchy) throws Exception {
        try (TestContainer container = started(hierarchy)) {
            CgroupFreezer freezer = CgroupFreezer.of(container.processes.leader.pid, TestContainer.ID.toString());
            assertNotNull(freezer);
            Suspender suspender =
                new Suspender(new SuspensionConf(conf), container.processes, new KillSignaller(), freezer,
                    folder.getRoot());
            suspender.stop(() -> false);
            assertTrue(freezer.isFrozen());
            long before = container.length("ticks");
            Thread.sleep(300);
            assertEquals(before, container.length("ticks"));
            suspender.resume();
            assertFalse(freezer.isFrozen());
            await().until(() -> container.length("ticks") > before);
        }
    }

    private void dies(File hierarchy) throws Exception {
        for (String signal : new String[] {"TERM", "KILL"}) {
            try (TestContainer container = started(hierarchy)) {
                CgroupFreezer freezer = CgroupFreezer.of(container.processes.leader.pid, TestContainer.ID.toString());
                SuspendableContainer suspendable =
                    new SuspendableContainer(TestContainer.ID, new SuspensionConf(conf), timer, new OrphanGuard(0));
                suspendable.suspend(Reason.PAUSED, new Suspender(new SuspensionConf(conf),
                    container.processes, new KillSignaller(), freezer, folder.getRoot()));
                assertTrue(freezer.isFrozen());
                suspendable.kill(() -> {
                    Shell.execCommand("bash", "-c", "kill -s " + signal + " -- -" + container.processes.leader.pid);
                    return true;
                });
                await().until(() -> container.processes.scan().isEmpty());
            }
            removeCgroup();
            cgroup = null;
            assertTrue(new File(folder.getRoot(), "pid").delete());
        }
    }

    private TestContainer started(File hierarchy) throws Exception {
        assumeTrue("no cgroup freezer that may be written below " + hierarchy, hierarchy.canWrite());
        File parent = new File(hierarchy, "hiatus-test-" + System.nanoTime());
        cgroup = new File(parent, TestContainer.ID.toString());
        assumeTrue("cannot make a cgroup below " + hierarchy, cgroup.mkdirs());
        TestContainer container = new TestContainer(folder.getRoot(), TICKS, 2);
        for (int look = 0; look < 2; look++) { // the second for what was forked during the first
            for (ProcessInfo process : container.processes.scan()) {
                move(process.pid);
            }
        }
        return container;
    }

    /** Into the cgroup, unless it has ended meanwhile. */
    private void move(int pid) throws IOException {
        try {
            Files.write(cgroup.toPath().resolve("cgroup.procs"),
                Integer.toString(pid).getBytes(StandardCharsets.US_ASCII), StandardOpenOption.WRITE);
        } catch (IOException e) {
            if (ProcFs.process(pid) != null) {
                throw e;
            }
        }
    }

    private static File v2() {
        File mixed = new File("/sys/fs/cgroup/unified");
        return mixed.exists() ? mixed : new File("/sys/fs/cgroup");
    }
}
