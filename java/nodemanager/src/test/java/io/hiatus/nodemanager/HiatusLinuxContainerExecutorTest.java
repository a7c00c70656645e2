package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.nodemanager.ContainerExecutor;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerReacquisitionContext;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerSignalContext;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/**
 * Against a stand-in for the setuid {@code container-executor}, which cannot be built everywhere: it records how it is
 * called and signals as the real one does, {@code container-executor <run as> <user> 2 <pid> <signal>}: the group of
 * that number, exit code 9 if there is none. One that changes the user for real is in tests/users.
 */
public class HiatusLinuxContainerExecutorTest {
    private static final String STAND_IN = "#!/bin/bash\n"
        + "echo \"$@\" >> %1$s/calls\n"
        + "[ \"$1\" = --checksetup ] && exit 0\n"
        + "[ \"$3\" = 2 ] || exit 3\n"
        + "[ -e %1$s/refuse ] && [ \"$5\" -gt 0 ] && exit 8\n" // not to who asks whether it lives
        + "[ -e %1$s/others ] && [ \"$5\" -gt 0 ] && exit 9\n" // what today's says of a group of somebody else's
        + "kill -0 -- -$4 2> /dev/null || exit 9\n"
        + "kill -$5 -- -$4\n";

    /** Hadoop remembers the path of the first {@code container-executor} it is told for as long as the JVM lives. */
    @ClassRule
    public static final TemporaryFolder HOME = new TemporaryFolder();

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();
    private final ExecutorService launches = Executors.newCachedThreadPool();
    private final Container container = mock(Container.class);
    private HiatusLinuxContainerExecutor executor;

    @Before
    public void start() throws IOException {
        File binary = new File(HOME.getRoot(), "container-executor");
        Files.write(binary.toPath(), String.format(STAND_IN, HOME.getRoot()).getBytes(StandardCharsets.UTF_8));
        assertTrue(binary.setExecutable(true));
        when(container.getContainerId()).thenReturn(TestContainer.ID);
        when(container.getUser()).thenReturn("alice");
        ContainerLaunchContext launch = mock(ContainerLaunchContext.class);
        when(launch.getEnvironment()).thenReturn(Collections.emptyMap());
        when(container.getLaunchContext()).thenReturn(launch);
        YarnConfiguration conf = new YarnConfiguration();
        conf.set(YarnConfiguration.NM_LINUX_CONTAINER_EXECUTOR_PATH, binary.getPath());
        conf.setLong(SuspensionConf.ORPHAN_GRACE_MS, 0); // nothing of a test outlives it
        executor = new HiatusLinuxContainerExecutor();
        executor.setConf(conf);
        executor.init(mock(Context.class));
    }

    @After
    public void stop() {
        launches.shutdownNow();
        for (String file : new String[] {"calls", "refuse", "others"}) {
            new File(HOME.getRoot(), file).delete();
        }
    }

    private List<String> signals() throws IOException {
        return Files.readAllLines(HOME.getRoot().toPath().resolve("calls")).stream()
            .filter(call -> call.startsWith("nobody alice 2 ") && !call.endsWith(" 0")) // 0 only asks whether it lives
            .collect(Collectors.toList());
    }

    private void reacquire(TestContainer test) throws IOException {
        executor.activateContainer(TestContainer.ID, test.pidPath());
        launches.submit(() -> executor.reacquireContainer(new ContainerReacquisitionContext.Builder()
            .setContainer(container).setContainerId(TestContainer.ID).setUser("alice").build()));
        await().until(() -> executor.suspension().has(TestContainer.ID));
    }

    @Test
    public void everySessionOfTheContainerIsStoppedAndContinuedAsItsUser() throws Exception {
        try (TestContainer test = new TestContainer(folder.getRoot(), "setsid sleep 600 & wait", 2)) {
            reacquire(test);
            int leader = test.processes.leader.pid;
            int child = test.processes.scan().stream().mapToInt(p -> p.pid).filter(pid -> pid != leader).sum();
            executor.pauseContainer(container);
            assertTrue(test.allStopped());
            assertTrue(signals().containsAll(Arrays.asList(call(leader, 19), call(child, 19))));
            executor.resumeContainer(container);
            assertTrue(test.noneStopped());
            assertTrue(signals().containsAll(Arrays.asList(call(leader, 18), call(child, 18))));
        }
    }

    @Test
    public void aPausedContainerGetsItsTermAndIsContinued() throws Exception {
        try (TestContainer test = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            reacquire(test);
            int leader = test.processes.leader.pid;
            executor.pauseContainer(container);
            executor.signalContainer(new ContainerSignalContext.Builder().setContainer(container).setUser("alice")
                .setPid("" + leader).setSignal(ContainerExecutor.Signal.TERM).build());
            test.process.waitFor();
            List<String> signals = signals();
            assertEquals(Arrays.asList(call(leader, 15), call(leader, 18)),
                signals.subList(signals.size() - 2, signals.size()));
        }
    }

    @Test
    public void aPauseThatContainerExecutorRefusesFails() throws Exception {
        try (TestContainer test = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            reacquire(test);
            HOME.newFile("refuse");
            UncheckedIOException failure =
                assertThrows(UncheckedIOException.class, () -> executor.pauseContainer(container));
            assertTrue(failure.getMessage(), failure.getMessage().contains("exit code 8"));
            assertTrue(test.noneStopped());
        }
    }

    @Test
    public void processesThatItsUserMayNotSignalFailThePauseThoughNobodySaysSo() throws Exception {
        try (TestContainer test = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            reacquire(test);
            HOME.newFile("others");
            UncheckedIOException failure =
                assertThrows(UncheckedIOException.class, () -> executor.pauseContainer(container));
            assertTrue(failure.getMessage(), failure.getMessage().contains("still running"));
        }
    }

    private static String call(int group, int signal) {
        return "nobody alice 2 " + group + " " + signal;
    }
}
