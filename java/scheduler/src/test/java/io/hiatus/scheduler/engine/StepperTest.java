package io.hiatus.scheduler.engine;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.FakeNode;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import org.apache.hadoop.test.MetricsAsserts;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.junit.Test;

/** Steps of bounded length, and when there is another one. */
public class StepperTest {
  private static final int NODES = 14;
  private static final int EACH = 100;

  private FakeNode node;

  /** Room for 1,400 containers, and a job that wants as many. */
  private FakeApp burst(MockCluster cluster) throws Exception {
    for (int i = 0; i < NODES; i++) {
      node = cluster.node(EACH * 256, EACH);
    }
    FakeApp app = cluster.run("default");
    assertNull(cluster.difference());
    app.ask(NODES * EACH, 256);
    cluster.settle();
    return app;
  }

  @Test
  public void aBurstIsCarriedOutInPieces() throws Exception {
    // No ticker beside the test's own steps.
    try (MockCluster cluster = MockCluster.with(conf -> conf.setBoolean(HiatusConfiguration.PLACE_BETWEEN_HEARTBEATS, false))) {
      FakeApp app = burst(cluster);
      int pieces = 0;
      int before = 0;
      boolean more = true;
      while (more) {
        more = cluster.scheduler().locked(cluster.engine()::step);
        int now = cluster.liveTasks(app).size();
        assertTrue(before + " then " + now, now - before <= LockBudget.MOST_CONTAINERS + EACH);
        before = now;
        pieces++;
      }
      assertTrue(pieces + " pieces", pieces > 1);
      assertEquals(NODES * EACH - 1, before);
      assertNull(cluster.difference());
    }
  }

  @Test
  public void withoutPlacingInBetweenAllComesByNodeUpdates() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.setBoolean(HiatusConfiguration.PLACE_BETWEEN_HEARTBEATS, false))) {
      FakeApp app = burst(cluster);
      Thread.sleep(500); // several pauses of the ticker
      assertEquals(0, cluster.liveTasks(app).size());
      node.beat();
      MockCluster.until("the node update gave some out", () -> !cluster.liveTasks(app).isEmpty());
    }
  }

  @Test
  public void theTickerGoesOnWithWhatAHeartbeatBegan() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      FakeApp app = burst(cluster);
      node.beat();
      MockCluster.until("all is given out", () -> cluster.liveTasks(app).size() == NODES * EACH - 1);
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aPlanThatIsPendingIsWorthAStepThoughNothingIsNew() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(hiatus("plan-interval-ms"), "60000"))) {
      cluster.node(4 * 1024, 16);
      cluster.submit("default", "user");
      cluster.scheduler().locked(() -> {
        cluster.engine().tick();
        assertTrue(cluster.facts().isEmpty());
        long steps = counter("Steps");
        cluster.engine().tick();
        assertEquals("the first plan was made just now, and another one is due", steps + 1, counter("Steps"));
        return null;
      });
    }
  }

  @Test
  public void heartbeatsOfNodesThatAreFullAreTakenTogetherAndOfOthersAtOnce() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      FakeNode full = cluster.node(1024, 16);
      cluster.run("default").ask(4, 256);
      MockCluster.until("nothing more fits", () -> {
        cluster.rounds(1);
        return cluster.scheduler().getNode(full.id()).getUnallocatedResource().getMemorySize() == 0;
      });
      assertNull(cluster.difference());
      int beats = 2_000;
      long begunMs = Time.monotonicNow();
      long steps = stepsOf(beats, full, cluster);
      long tookMs = Time.monotonicNow() - begunMs;
      assertTrue(steps + " steps in " + tookMs + " ms: one in a millisecond, and the ticker's", steps <= 2 * tookMs + 10);

      FakeNode roomy = cluster.node(1024, 16);
      assertTrue("each may let something start", stepsOf(beats, roomy, cluster) >= beats);
    }
  }

  private static long stepsOf(int beats, FakeNode node, MockCluster cluster) {
    RMNode updated = cluster.scheduler().getNode(node.id()).getRMNode();
    long before = counter("Steps");
    for (int i = 0; i < beats; i++) {
      cluster.scheduler().nodeUpdate(updated); // the ResourceManager's dispatcher would make one of several
    }
    return counter("Steps") - before;
  }

  @Test
  public void whatTheCoreCountsIsAMetric() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(1024, 4);
      FactBuffer nonsense = new FactBuffer();
      Records.putLaunched(nonsense, 4711);
      cluster.scheduler().locked(() -> Native.step(cluster.engine().core(), Time.monotonicNow(), nonsense.bytes(),
          nonsense.length(), FactBuffer.fresh(1 << 16)));
      MockCluster.until("the next look tells it", () -> MetricsAsserts.getLongGauge("StrangeFacts",
          MetricsAsserts.getMetrics(HiatusMetrics.NAME)) == 1);
    }
  }

  @Test
  public void withoutNewsOrAPendingPlanNoneIs() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(4 * 1024, 16);
      assertNull(cluster.difference());
      assertFalse(cluster.scheduler().locked(() -> Native.hasMore(cluster.engine().core())));
    }
  }
}
