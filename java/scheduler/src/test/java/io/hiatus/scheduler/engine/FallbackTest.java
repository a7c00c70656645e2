package io.hiatus.scheduler.engine;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.gauge;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.hamcrest.CoreMatchers.allOf;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.CoreMatchers.not;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.FakeNode;
import io.hiatus.scheduler.HiatusScheduler;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.OneSuspended;
import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.NativeException;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.facts.Exit;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.junit.Test;
import org.slf4j.LoggerFactory;

/** The machine outlives the policy: whatever fails, stock CapacityScheduler goes on, loudly, and there is a way back. */
public class FallbackTest extends OneSuspended {
  private static void panic(MockCluster cluster) {
    assertThrows(NativeException.class, () -> Native.testingPanic(cluster.engine().core(), "on purpose"));
  }

  @Test
  public void afterAPanicStockGoesOnAndWhatIsSuspendedIsPromoted() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(Engine.class));
      panic(cluster);
      cluster.rounds(1);
      log.stopCapturing();
      assertThat(log.getOutput(), allOf(containsString("HIATUS IS OFF"), containsString("panicked earlier"),
          containsString("refreshQueues")));
      assertEquals(1, gauge("Fallback"));
      assertEquals("it is told in every mode", 1, gauge("SuspendedNow"));
      assertNotNull(cluster.engine().fault());

      small.finish(small.held().get(0));
      cluster.rounds(3);
      for (ContainerId container : big.held()) {
        assertEquals(ExecutionType.GUARANTEED, cluster.container(container).getExecutionType());
      }
      assertEquals(0, gauge("SuspendedNow"));
      assertTrue("the node was told", node.told().get(1).startsWith("promote"));

      FakeNode another = cluster.node(4096, 64);
      FakeApp late = cluster.run("default");
      late.ask(2, 1024);
      cluster.rounds(5);
      assertEquals("stock places", 2, late.held().size());
      assertTrue(another.running().containsAll(late.held()));
    }
  }

  @Test
  public void aRefreshIsTheWayBack() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      panic(cluster);
      cluster.rounds(1);
      assertNull(cluster.facts());

      cluster.refresh(conf -> { });
      assertEquals(0, gauge("Fallback"));
      assertNull(cluster.engine().fault());
      assertNull("the new core knows all", cluster.difference());
      cluster.rounds(1);
      small.finish(small.held().get(0));
      cluster.rounds(3);
      assertEquals(4, big.held().stream()
          .filter(id -> cluster.container(id).getExecutionType() == ExecutionType.GUARANTEED).count());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void stepsOverBudgetAreAFault() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(HiatusConfiguration.STEP_BUDGET_MS, "1");
      conf.set("yarn.scheduler.hiatus.plan-interval-ms", "0"); // between plans no step is slow
    })) {
      // So many jobs that no machine ranks them within the smallest budget that can be set.
      FactBuffer jobs = new FactBuffer();
      int queue = cluster.facts().queues.of("root.default");
      for (int app = 1_000_000; app < 1_050_000; app++) {
        Records.putApp(jobs, app, queue, 0, 0, 0, 0, 0, new byte[0]);
        Records.putAppActive(jobs, app, 1);
        Records.putAsked(jobs, app, 20, 0, 1024, 1, 1, 1);
      }
      cluster.node(1024, 1);
      Native.step(cluster.engine().core(), Time.monotonicNow(), jobs.bytes(), jobs.length(), FactBuffer.fresh(1 << 16));
      MockCluster.until("the engine gives up", () -> {
        cluster.rounds(1); // of a node that did not report nobody would expect anything
        return cluster.engine().fault() != null;
      });
      assertThat(cluster.engine().fault(), containsString("steps in a row took over 1 ms"));
      assertEquals(1, gauge("Fallback"));
    }
  }

  @Test
  public void aWrongConfigurationKeepsNoResourceManagerFromStarting() throws Exception {
    String[][] all = {{HiatusConfiguration.MODE, "maybe"}, {HiatusConfiguration.STEP_BUDGET_MS, "fast"},
        {HiatusConfiguration.STEP_INTERVAL_MS, "0"}, {HiatusConfiguration.PHYSICAL_NODES, "strong"},
        {HiatusConfiguration.RECORD_DIR, "here"}, {HiatusConfiguration.REPORT_PORT, "many"}, {hiatus("min-rum-ms"), "1"}};
    for (String[] wrong : all) {
      try (MockCluster cluster = MockCluster.with(conf -> conf.set(wrong[0], wrong[1]))) {
        assertThat(cluster.engine().fault(), allOf(containsString(wrong[0]), not(containsString("are kept"))));
        assertEquals(1, gauge("Fallback"));
        cluster.engine().watch();
        cluster.node(4096, 64);
        big = cluster.run("default");
        big.ask(2, 1024);
        cluster.rounds(4);
        assertEquals("stock places", 2, big.held().size());

        cluster.refresh(conf -> conf.unset(wrong[0]));
        assertNull(cluster.engine().fault());
        assertNull(cluster.difference());
      }
    }
  }

  @Test
  public void norOneThatStandsByFromBecomingTheActiveOne() throws Exception {
    try (MockCluster active = MockCluster.plain(); MockRM standby = new MockRM(active.conf())) { // made, and not started
      Configuration wrong = new Configuration(active.conf());
      wrong.set(hiatus("claim-timeout-ms"), "soon");
      standby.getResourceScheduler().reinitialize(wrong, standby.getRMContext()); // the first that it is told then
      assertThat(((MockCluster.OpenScheduler) standby.getResourceScheduler()).engine().fault(), containsString("claim-timeout-ms"));
      assertThrows(IOException.class, () -> active.scheduler().reinitialize(wrong, active.context()));
      assertNull(active.engine().fault());
    }
  }

  @Test
  public void aCoreWhoseBooksDifferIsMadeAnewAndGivenUpIfThatDoesNotHelp() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(HiatusConfiguration.BOOKS_INTERVAL_MS, "100"))) {
      suspendOne(cluster);
      long before = cluster.engine().core();
      ContainerId one = big.held().get(0);
      cluster.scheduler().locked(() -> {
        cluster.facts().completed(one, Exit.KILLED);
        return null;
      });
      cluster.beat();
      assertThat(cluster.difference(), containsString(one + " on " + node.id() + " is unknown to the core"));

      tickUntil(cluster, "the core is made anew", () -> cluster.engine().core() != before);
      assertEquals(1, counter("Rebuilt"));
      assertNull(cluster.difference());
      assertNull(cluster.engine().fault());
      assertEquals(1, cluster.facts().suspended().size());

      tickUntil(cluster, "the engine gives up what does not get better", () -> {
        if (cluster.facts() != null && cluster.facts().containers.of(one) != null) {
          cluster.facts().completed(one, Exit.KILLED);
          cluster.engine().step();
        }
        return cluster.engine().fault() != null;
      });
      assertThat(cluster.engine().fault(), containsString("books differ"));
      assertEquals(1, gauge("Fallback"));
    }
  }

  private static void tickUntil(MockCluster cluster, String what, Callable<Boolean> holds) {
    MockCluster.until(what, () -> cluster.scheduler().locked(() -> {
      cluster.engine().tick();
      try {
        return holds.call();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }));
  }

  @Test
  public void aWrongValueIsRefusedAndTheOldStateStays() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      long core = cluster.engine().core();
      IOException range = assertThrows(IOException.class, () -> cluster.refresh(conf -> {
        conf.set(hiatus("suspension-budget-ms"), "-1");
        MockCluster.queues(conf, "root", "default", 50, "other", 50);
      }));
      assertThat(range.getMessage(), allOf(containsString(hiatus("suspension-budget-ms")), containsString("-1"),
          containsString("a whole number from 0 to 2592000000")));
      assertNull("nothing of the refused refresh is in force", cluster.scheduler().getQueue("other"));

      assertThat(assertThrows(IOException.class, () -> cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "on")))
          .getMessage(), allOf(containsString(HiatusConfiguration.MODE), containsString("observe")));
      assertThat(assertThrows(IOException.class,
          () -> cluster.refresh(conf -> conf.set(HiatusConfiguration.STEP_BUDGET_MS, "fast"))).getMessage(),
          allOf(containsString(HiatusConfiguration.STEP_BUDGET_MS), containsString("600000")));
      assertThat(assertThrows(IOException.class, () -> cluster.refresh(
          conf -> conf.set(MockCluster.queue("root.default", "hiatus.policy"), "magic"))).getMessage(),
          allOf(containsString("root.default.hiatus.policy"), containsString("srpt")));

      // And what CapacityScheduler itself refuses.
      assertThrows(IOException.class, () -> cluster.refresh(
          conf -> MockCluster.queues(conf, "root", "default", 50, "other", 70)));
      assertEquals(core, cluster.engine().core());
      assertNull(cluster.difference());
      assertEquals(0, gauge("Fallback"));
    }
  }

  @Test
  public void everyRungIsReachedByRefreshWithWhatRuns() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      long core = cluster.engine().core();

      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "order"));
      assertEquals("the core goes on with what it knows", core, cluster.engine().core());
      assertNull(cluster.difference());

      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      assertNull(cluster.facts());
      small.finish(small.held().get(0));
      cluster.rounds(3);
      assertEquals("stock has promoted what was suspended", 4, guaranteedOfBig(cluster));

      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "suspend"));
      assertNotEquals(core, cluster.engine().core());
      assertNull(cluster.difference());
      small.ask(1, 1024);
      cluster.rounds(4);
      assertEquals("Hiatus suspends again", 3, guaranteedOfBig(cluster));
      assertNull(cluster.difference());

      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "observe"));
      small.finish(small.held().get(0));
      cluster.rounds(3);
      assertEquals("observe leaves no container suspended", 4, guaranteedOfBig(cluster));
      assertNull(cluster.difference());
    }
  }

  private long guaranteedOfBig(MockCluster cluster) {
    return big.held().stream().filter(id -> cluster.container(id).getExecutionType() == ExecutionType.GUARANTEED)
        .count();
  }

  @Test
  public void withoutTheLibraryItIsCapacityScheduler() throws Exception {
    // The library is loaded once in a JVM: a value that only the core refuses has the same effect.
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(Engine.class));
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(hiatus("claim-timeout-ms"), "soon"))) {
      log.stopCapturing();
      assertThat(log.getOutput(), allOf(containsString("HIATUS IS OFF"), containsString("claim-timeout-ms")));
      assertEquals(1, gauge("Fallback"));
      cluster.node(4096, 64);
      big = cluster.run("default");
      big.ask(2, 1024);
      cluster.rounds(4);
      assertEquals(2, big.held().size());
    }
  }
}
