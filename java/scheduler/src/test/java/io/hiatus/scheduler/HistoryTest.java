package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static io.hiatus.scheduler.MockCluster.until;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.NativeLibrary;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.service.Service.STATE;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.slf4j.LoggerFactory;

/** What jobs took is remembered in a directory, beyond the ResourceManager's life; and nothing depends on it. */
public class HistoryTest {
  private static final String FILE = "history.redb";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private MockCluster remembering(Path dir) throws Exception {
    return MockCluster.with(conf -> {
      conf.set(hiatus("rm.history-dir"), dir.toString());
      conf.setLong(HiatusConfiguration.STEP_INTERVAL_MS, 50);
    });
  }

  private static FakeApp run(MockCluster cluster, String name) throws Exception {
    return cluster.started(cluster.submit(cluster.builder("default", "user").withAppName(name).build()));
  }

  /** Asks for two tasks, and beats until it has them. */
  private static void runTasks(MockCluster cluster, FakeApp app) throws Exception {
    app.ask(2, 1024);
    until("the tasks have their containers", () -> {
      cluster.beat();
      app.fetch();
      return app.held().size() == 2;
    });
    cluster.rounds(2);
  }

  /** Runs it to its end. */
  private static void runWhole(MockCluster cluster, String name) throws Exception {
    FakeApp app = run(cluster, name);
    runTasks(cluster, app);
    app.finish();
    until("the run is over", () -> {
      cluster.beat();
      return app.app().getState() == RMAppState.FINISHED;
    });
  }

  private static void awaitKnown(MockCluster cluster, String name) throws Exception {
    FakeApp again = run(cluster, name);
    again.ask(1, 1024);
    until("history tells of the first run", () -> {
      cluster.beat();
      return knows(cluster, again);
    });
  }

  private static boolean knows(MockCluster cluster, FakeApp app) {
    String json = cluster.scheduler().operatorService().explainNow().whole().toString();
    return json.contains("\"application\":\"" + app.id()) && !json.contains("\"earlier_task_s\":null");
  }

  @Test
  public void aJobThatComesAgainAfterARestartIsKnownByItsNameWithoutDigits() throws Exception {
    Path dir = folder.getRoot().toPath().resolve("history");
    try (MockCluster cluster = remembering(dir)) {
      cluster.node(4096, 4);
      runWhole(cluster, "daily 2026-11-22");
      cluster.restart();
      awaitKnown(cluster, "daily 2026-11-23");
      assertNull(cluster.scheduler().operatorService().fault());
      assertNull(cluster.difference());
    }
    assertTrue(Files.exists(dir.resolve(FILE)));
  }

  @Test
  public void oneThatStandsByLeavesTheFileToTheActiveOne() throws Exception {
    String dir = folder.getRoot().toPath().resolve("history").toString();
    try (MockCluster active = MockCluster.with(conf -> conf.setLong(HiatusConfiguration.STEP_INTERVAL_MS, 50))) {
      Configuration conf = new Configuration(active.conf());
      conf.set(hiatus("rm.history-dir"), dir);
      try (MockRM standby = new MockRM(conf)) { // made, and not started
        active.refresh(more -> more.set(hiatus("rm.history-dir"), dir));
        active.node(4096, 4);
        runWhole(active, "daily 1");
        awaitKnown(active, "daily 2");
        assertEquals(STATE.INITED, standby.getServiceState());
      }
    }
  }

  @Test
  public void aDamagedFileIsToldOnceAndJobsRunWithoutHistory() throws Exception {
    Path file = folder.getRoot().toPath().resolve(FILE);
    byte[] damaged = "no database".getBytes();
    Files.write(file, damaged);
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger("io.hiatus.core"));
    try (MockCluster cluster = remembering(folder.getRoot().toPath())) {
      cluster.node(4096, 4);
      FakeApp app = run(cluster, "job");
      runTasks(cluster, app);
      until("the file is told of", () -> {
        cluster.beat();
        return log.getOutput().contains("Hiatus goes on without history");
      });
      app.finish();
      assertNull(cluster.scheduler().operatorService().fault());
    } finally {
      log.stopCapturing();
    }
    assertThat(log.getOutput(), containsString(file + ": damaged"));
    assertArrayEquals(damaged, Files.readAllBytes(file));
  }

  @Test
  public void theDirectoryIsAnAbsolutePath() {
    Configuration conf = new Configuration(false);
    conf.set(HiatusConfiguration.HISTORY_DIR, "history");
    Exception refused = assertThrows(IllegalArgumentException.class, () -> new HiatusConfiguration(conf).check());
    assertThat(refused.getMessage(), containsString("must be an absolute path"));
  }

  @Test
  public void aTagNamesAClassAndDigitsDoNot() {
    NativeLibrary.load(folder.getRoot().toPath());
    assertEquals(Native.jobClass("sort 1", ""), Native.jobClass("Sort 22", "etl"));
    assertEquals(Native.jobClass("sort", ""), Native.jobClass("anything", "etl\nhiatus.job-class=sort"));
    assertNotEquals(Native.jobClass("sort", ""), Native.jobClass("grep", ""));
  }
}
