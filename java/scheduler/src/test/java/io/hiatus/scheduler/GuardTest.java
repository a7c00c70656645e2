package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.gauge;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.facts.Exit;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.junit.After;
import org.junit.Test;
import org.slf4j.LoggerFactory;

/** Whatever our own code raises where CapacityScheduler calls it, the ResourceManager lives on; what stock's own raises is stock's. */
public class GuardTest {
  /** What our own code raises at the next opportunity; null: nothing. */
  private static volatile Supplier<Error> ours;
  /** How often CapacityScheduler's commits fail from now on, while Hiatus places. */
  private static volatile int failingCommits;
  /** Holds up who carries out a step, while it is set. */
  private static volatile boolean hanging;

  /** Facts that nobody can write down. */
  private static final class BadFactWriter extends FactWriter {
    BadFactWriter(boolean memoryOnly, Predicate<ContainerId> isOurs) {
      super(memoryOnly, isOurs);
    }

    private void fail() {
      if (ours != null) {
        Error error = ours.get();
        if (error.getCause() instanceof RuntimeException) {
          throw (RuntimeException) error.getCause();
        }
        throw error;
      }
    }

    @Override
    public synchronized void node(NodeId id, Resource total, String partition, boolean shareable, boolean canSuspend,
        boolean decommissioning, int side, long ramAndSwapMb) {
      fail();
      super.node(id, total, partition, shareable, canSuspend, decommissioning, side, ramAndSwapMb);
    }

    @Override
    public void asksChanged(ApplicationId id) {
      fail();
      super.asksChanged(id);
    }

    @Override
    public synchronized void heartbeat(NodeId id, int paused, int waiting, boolean isFull) {
      fail();
      super.heartbeat(id, paused, waiting, isFull);
    }

    @Override
    public synchronized void container(RMContainer container, boolean master) {
      fail();
      super.container(container, master);
    }

    @Override
    public synchronized void completed(ContainerId id, Exit exit) {
      fail();
      super.completed(id, exit);
    }
  }

  public static final class BadScheduler extends MockCluster.OpenScheduler {
    @Override
    FactWriter createFacts(Predicate<ContainerId> isOurs) {
      return new BadFactWriter(countsMemoryOnly(), isOurs);
    }

    @Override
    HiatusMetrics createMetrics() {
      return new HiatusMetrics() {
        @Override
        public void stepped(long readNanos, long coreNanos, long applyNanos, int factBytes) {
          super.stepped(readNanos, coreNanos, applyNanos, factBytes);
          hangOn();
        }
      };
    }

    @Override
    @SuppressWarnings("rawtypes")
    public boolean tryCommit(Resource cluster, ResourceCommitRequest request, boolean updatePending) {
      if (failingCommits > 0 && engine().places()) {
        failingCommits--;
        throw new IllegalStateException("stock's own failure");
      }
      return super.tryCommit(cluster, request, updatePending);
    }
  }

  private static void hangOn() {
    while (hanging) {
      Thread.yield();
    }
  }

  @After
  public void mend() {
    ours = null;
    failingCommits = 0;
    hanging = false;
  }

  private static MockCluster cluster() throws Exception {
    return MockCluster.with(conf -> {
      conf.setClass(YarnConfiguration.RM_SCHEDULER, BadScheduler.class, HiatusScheduler.class);
      conf.setBoolean(HiatusConfiguration.PLACE_BETWEEN_HEARTBEATS, false); // a step is taken where a test takes it
    });
  }

  /** Something that happens to the cluster. */
  private interface Happening {
    void happen() throws Exception;
  }

  /** While it happens our code fails; stock takes over then, until a refresh. */
  private static void assertStockTakesOver(MockCluster cluster, Supplier<Error> failure, Happening happening) throws Exception {
    assertNull(cluster.scheduler().operatorService().fault());
    ours = failure;
    happening.happen();
    cluster.settle();
    ours = null;
    cluster.scheduler().locked(cluster.engine()::tick);
    assertThat(cluster.scheduler().operatorService().fault(), containsString("on purpose"));
    assertNull(cluster.facts());
    assertEquals(1, gauge("Fallback"));
    cluster.refresh(conf -> { });
    assertNull(cluster.difference());
  }

  @Test
  public void whateverOurOwnCodeRaisesEndsInStockTakingOver() throws Exception {
    try (MockCluster cluster = cluster()) {
      FakeNode node = cluster.node(8 * 1024, 64);
      FakeApp app = cluster.run("default");
      app.ask(2, 1024);
      cluster.rounds(2);
      assertEquals(2, app.held().size());

      assertStockTakesOver(cluster, () -> new StackOverflowError("on purpose"),
          () -> new FakeNode(cluster.freshHost(), 1024, 1, true).register(cluster.rm().getResourceTrackerService()));
      assertStockTakesOver(cluster, () -> new NoClassDefFoundError("on purpose"), () -> app.ask(1, 1024));
      assertStockTakesOver(cluster, () -> new Error(new IllegalStateException("on purpose")), node::beat);
      assertStockTakesOver(cluster, () -> new OutOfMemoryError("on purpose"), () -> {
        app.release(app.held().get(0));
        cluster.settle();
      });
      // What is given out cannot be written down. Not before: with that heartbeat it would be given out.
      node.beat();
      cluster.settle();
      app.ask(1, 512);
      assertStockTakesOver(cluster, () -> new Error(new NullPointerException("on purpose")),
          () -> MockCluster.until("it is given out", () -> {
            cluster.scheduler().locked(cluster.engine()::step);
            return cluster.scheduler().operatorService().fault() != null;
          }));

      ours = () -> new StackOverflowError("on purpose");
      node.beat();
      cluster.settle();
      app.ask(2, 1024);
      cluster.rounds(3);
      assertNotNull(cluster.scheduler().operatorService().fault());
      assertTrue("stock places: " + app.held(), app.held().size() >= 3);
    }
  }

  @Test
  public void whatCapacitySchedulerFailsOverIsRefusedAndTriedAgain() throws Exception {
    try (MockCluster cluster = cluster()) {
      cluster.node(8 * 1024, 64);
      FakeApp app = cluster.run("default");
      failingCommits = 3;
      app.ask(2, 1024);
      MockCluster.until("it has what it wants", () -> {
        cluster.rounds(1);
        return app.held().size() == 2;
      });
      assertEquals(0, failingCommits);
      assertNull(cluster.scheduler().operatorService().fault());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void whereCapacitySchedulerFailsOverEverythingHiatusIsOff() throws Exception {
    try (MockCluster cluster = cluster()) {
      cluster.node(8 * 1024, 64);
      FakeApp app = cluster.run("default");
      failingCommits = Integer.MAX_VALUE;
      app.ask(2, 1024);
      MockCluster.until("stock takes over", () -> {
        cluster.beat();
        return cluster.scheduler().operatorService().fault() != null;
      });
      assertThat(cluster.scheduler().operatorService().fault(), containsString("stock's own failure"));
      cluster.rounds(3);
      assertEquals(2, app.held().size());
    }
  }

  @Test
  public void aStepThatHangsIsToldOfWithItsStack() throws Exception {
    try (MockCluster cluster = cluster()) {
      LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger("io.hiatus.scheduler.engine.Watchdog"));
      cluster.refresh(conf -> conf.set(HiatusConfiguration.STEP_BUDGET_MS, "1"));
      hanging = true;
      Thread step = new Thread(() -> cluster.scheduler().locked(cluster.engine()::step), "StepThatHangs");
      step.start();
      try {
        MockCluster.until("the watchdog barks", () -> log.getOutput().contains("HIATUS HANGS"));
      } finally {
        hanging = false;
        log.stopCapturing();
      }
      step.join();
      assertThat(log.getOutput(), containsString("StepThatHangs"));
      assertThat(log.getOutput(), containsString("GuardTest.hangOn"));
      assertEquals("once", 1, log.getOutput().split("HIATUS HANGS", -1).length - 1);
    }
  }
}
