package io.hiatus.nodemanager;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.hiatus.nodemanager.Signaller.JobSignal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class SuspenderTest {
    private static final String TREE =
        "sleep 600 & bash -c 'sleep 600 & wait' & setsid bash -c 'sleep 600 & wait' & wait";
    /** Handles SIGTSTP as a well-behaved program does: puts its affairs in order, then stops. */
    private static final String HANDLER =
        "trap 'echo told > told; kill -STOP $$' TSTP; touch ready; while :; do sleep 0.05; done";

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();
    private final Configuration conf = new Configuration(false);
    private final List<JobSignal> sent = new ArrayList<>();
    private final Signaller recording = new KillSignaller() {
        @Override
        public void send(JobSignal signal, Set<Integer> groups) throws IOException {
            sent.add(signal);
            super.send(signal, groups);
        }
    };

    @Test
    public void aWholeTreeIsStoppedAndRunsAgain() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TREE, 6)) {
            Suspender suspender = container.suspender(conf);
            suspender.stop(() -> false);
            assertTrue(container.processes.scan().toString(), container.allStopped());
            assertEquals(6, container.processes.scan().size());
            suspender.resume();
            assertTrue(container.noneStopped());
        }
    }

    /** One that hangs in the kernel has been told to stop, and does so later. */
    @Test
    public void aStopThatFailsIsTakenBackFromThoseToo() throws Exception {
        Signaller notYet = new KillSignaller() {
            @Override
            public void send(JobSignal signal, Set<Integer> groups) {
                sent.add(signal);
            }
        };
        conf.setLong(SuspensionConf.SIGNAL_TIMEOUT_MS, 50);
        try (TestContainer container = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            assertThrows(IOException.class, () -> container.suspender(conf, notYet).stop(() -> false));
            assertEquals(JobSignal.CONT, sent.get(sent.size() - 1));
        }
    }

    @Test
    public void whoHandlesTstpIsToldFirstAndMayStopItself() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), HANDLER, 2)) {
            await().until(() -> container.has("ready"));
            conf.setLong(SuspensionConf.NOTICE_GRACE_MS, 60_000); // were it waited out, the test would not end
            Suspender suspender = container.suspender(conf, recording);
            suspender.notice(() -> false);
            assertEquals("told", container.read("told"));
            suspender.stop(() -> false);
            assertTrue(container.allStopped());
            assertEquals(JobSignal.TSTP, sent.get(0));
            suspender.resume();
            assertTrue(container.noneStopped());
        }
    }

    @Test
    public void theGraceEndsForAHandlerThatDoesNotStop() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(),
                "trap 'echo told > told' TSTP; touch ready; while :; do sleep 0.05; done", 2)) {
            await().until(() -> container.has("ready"));
            conf.setLong(SuspensionConf.NOTICE_GRACE_MS, 300);
            Suspender suspender = container.suspender(conf);
            suspender.notice(() -> false);
            suspender.stop(() -> false);
            assertTrue(container.allStopped());
        }
    }

    @Test
    public void noNoticeWhereNobodyWouldHearIt() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TREE, 6)) {
            conf.setLong(SuspensionConf.NOTICE_GRACE_MS, 60_000);
            container.suspender(conf, recording).notice(() -> false);
            assertTrue(sent.isEmpty());
        }
    }

    @Test
    public void childrenForkedWhileStoppingAreStoppedToo() throws Exception {
        String forker = "while :; do setsid sleep 0.3 & sleep 0.002; done";
        try (TestContainer container = new TestContainer(folder.getRoot(),
                "while ! [ -e go ]; do :; done; for i in 1 2 3; do (" + forker + ") & done; wait", 1)) {
            assertTrue(folder.newFile("go").exists());
            await().until(() -> container.processes.scan().size() > 10);
            Suspender suspender = container.suspender(conf);
            suspender.stop(() -> false);
            for (int look = 0; look < 20; look++) {
                assertTrue(container.processes.scan().toString(), container.allStopped());
                Thread.sleep(5);
            }
            suspender.resume();
            assertFalse(container.allStopped());
        }
    }

    @Test
    public void whatCannotBeStoppedFailsAndRunsOn() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TREE, 6)) {
            conf.setLong(SuspensionConf.SIGNAL_TIMEOUT_MS, 300);
            int untouchable = container.processes.leader.group;
            Suspender suspender = container.suspender(conf, new KillSignaller() {
                @Override
                public void send(JobSignal signal, Set<Integer> groups) throws IOException {
                    groups.remove(untouchable);
                    if (!groups.isEmpty()) {
                        super.send(signal, groups);
                    }
                }
            });
            IOException failure = assertThrows(IOException.class, () -> suspender.stop(() -> false));
            assertTrue(failure.getMessage(), failure.getMessage().contains("still running 300 ms after SIGSTOP"));
            await().until(container::noneStopped);
        }
    }

    @Test
    public void aKillCancelsTheStop() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), TREE, 6)) {
            Suspender suspender = container.suspender(conf);
            assertThrows(IOException.class, () -> suspender.stop(() -> true));
            await().until(container::noneStopped);
        }
    }

    @Test
    public void thereIsNothingToSuspendWhenAllHaveEnded() throws Exception {
        try (TestContainer container = new TestContainer(folder.getRoot(), "sleep 600; true", 2)) {
            container.process.destroyForcibly().waitFor();
            new ProcessBuilder("kill", "-KILL", "--", "-" + container.processes.leader.pid).start().waitFor();
            await().until(() -> container.processes.scan().isEmpty());
            IOException failure =
                assertThrows(IOException.class, () -> container.suspender(conf).stop(() -> false));
            assertTrue(failure.getMessage(), failure.getMessage().contains("have ended"));
            assertFalse(container.allStopped());
        }
    }
}
