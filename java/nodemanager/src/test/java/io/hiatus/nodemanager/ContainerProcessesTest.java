package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class ContainerProcessesTest {
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    @Test
    public void childrenGrandchildrenAndTheSessionsTheyOpenBelongToTheContainer() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(),
                "sleep 600 & bash -c 'sleep 600 & wait' & setsid bash -c 'echo $$ > own; sleep 600 & wait' & wait", 6)) {
            int ownSession = Integer.parseInt(container.read("own"));
            assertTrue(container.processes.scan().stream().anyMatch(p -> p.session == ownSession));
            int thisJvm = Integer.parseInt(new java.io.File("/proc/self").getCanonicalFile().getName());
            assertFalse(container.processes.scan().stream().anyMatch(p -> p.pid == thisJvm));
        }
    }

    @Test
    public void aProcessOnceSeenIsRememberedWhenItsAncestorsHaveDied() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "setsid sleep 600 & wait", 2)) {
            new ProcessBuilder("kill", "-KILL", Integer.toString(container.processes.leader.pid)).start().waitFor();
            await().until(() -> !container.processes.isLeaderAlive());
            assertEquals(1, container.processes.scan().size());
        }
    }

    @Test
    public void anotherProcessWithTheSamePidIsNotOfTheContainer() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            ProcessInfo real = container.processes.leader;
            ContainerProcesses earlier = new ContainerProcesses(new ProcessInfo(
                real.pid, real.parent, real.group, real.session, real.state, real.startTicks - 1));
            assertFalse(earlier.isLeaderAlive());
            assertTrue(earlier.scan().isEmpty());
        }
    }

    @Test
    public void aLeaderOfNoSessionIsRefused() throws IOException {
        ProcessInfo member = new ProcessInfo(11, 1, 10, 10, 'S', 1);
        assertThrows(IllegalArgumentException.class, () -> new ContainerProcesses(member));
    }

    @Test
    public void aNameWithSpacesAndBracketsIsRead() throws Exception {
        java.io.File odd = folder.newFile("odd ) S 1 (name");
        java.nio.file.Files.copy(java.nio.file.Paths.get("/bin/sleep"), odd.toPath(),
            java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        assertTrue(odd.setExecutable(true));
        try (TestContainer container = new TestContainer(folder.getRoot(), "exec './" + odd.getName() + "' 600", 1)) {
            ProcessInfo leader = ProcFs.process(container.processes.leader.pid);
            assertEquals(leader.pid, leader.session);
        }
    }
}
