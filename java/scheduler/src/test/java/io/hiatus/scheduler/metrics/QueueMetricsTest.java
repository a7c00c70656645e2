package io.hiatus.scheduler.metrics;

import static org.apache.hadoop.test.MetricsAsserts.getLongCounter;
import static org.apache.hadoop.test.MetricsAsserts.getLongGauge;
import static org.apache.hadoop.test.MetricsAsserts.getMetrics;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.OneSuspended;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.util.Collections;
import java.util.concurrent.Callable;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.junit.Test;

/** What metrics and the timeline tell of queues. */
public class QueueMetricsTest extends OneSuspended {
  private static final String SOURCE = "HiatusQueueMetrics,q0=root,q1=default";

  @Test
  public void eachQueueTellsWhatItsJobsHoldAndWhatWasDoneToThem() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      look(cluster, () -> getLongGauge("SuspendedNow", getMetrics(SOURCE)) == 1);
      MetricsRecordBuilder queue = getMetrics(SOURCE);
      assertEquals(2, getLongGauge("Jobs", queue));
      assertEquals("two masters and four tasks", 6, getLongGauge("Running", queue));
      assertEquals(0, getLongGauge("Pending", queue));
      assertEquals(1024, getLongGauge("SuspendedMB", queue));
      assertEquals(7, getLongCounter("Assigned", queue));
      assertEquals(1, getLongCounter("Suspended", queue));
      assertEquals(0, getLongCounter("Resumed", queue));
      MetricsRecordBuilder all = getMetrics(HiatusMetrics.NAME);
      assertEquals(6, getLongGauge("Running", all));
      assertEquals(1024, getLongGauge("SuspendedMB", all));

      long before = getLongGauge("SuspendedMillis", queue);
      look(cluster, () -> getLongGauge("SuspendedMillis", getMetrics(SOURCE)) > before);

      JsonNode timeline = cluster.scheduler().operatorService().timeline().of("root.default");
      int last = timeline.path("times").size() - 1;
      assertEquals(6, timeline.path("running").path(last).asInt());
      assertEquals(1, timeline.path("suspended").path(last).asInt());

      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      assertEquals("nobody tells any more", 0, getLongGauge("Running", getMetrics(SOURCE)));
    }
  }

  @Test
  public void refusalsAreCountedByTheirReason() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(MockCluster.queue("root.default", "maximum-capacity"), "50"))) {
      cluster.node(4 * 1024, 16);
      FakeApp app = cluster.run("default");
      app.ask(4, 1024);
      cluster.rounds(5);
      MetricsRecordBuilder queue = getMetrics(SOURCE);
      long refused = 0;
      for (String reason : new String[] {"RefusedByLimit", "RefusedForRoom", "RefusedAsGone"}) {
        assertEquals(getLongCounter(reason, queue), getLongCounter(reason, getMetrics(HiatusMetrics.NAME)));
        refused += getLongCounter(reason, queue);
      }
      assertEquals(MockCluster.counter("Rejected"), refused);
    }
  }

  @Test
  public void aQueueThatIsGoneTellsNothing() {
    HiatusMetrics metrics = HiatusMetrics.register(new HiatusMetrics());
    metrics.queues.of("root.a");
    metrics.queues.of("root.b");
    metrics.queues.retain(Collections.singleton("root.b"));
    assertFalse(DefaultMetricsSystem.instance().getSource(QueueMetrics.source("root.a")) != null);
    assertTrue(DefaultMetricsSystem.instance().getSource(QueueMetrics.source("root.b")) != null);
    metrics.queues.retain(Collections.emptySet());
  }

  @Test
  public void theTimelineHasTheLastTenMinutesAndWhatHappenedInEachSecond() {
    HiatusMetrics metrics = HiatusMetrics.register(new HiatusMetrics());
    QueueMetrics a = metrics.queues.of("root.a");
    QueueMetrics b = metrics.queues.of("root.b");
    Timeline timeline = new Timeline();
    a.suspended.incr(5);
    for (int second = 0; second < Timeline.MOST_SAMPLES + 10; second++) {
      a.running.set(second);
      b.running.set(1);
      b.killed.incr(2);
      timeline.add(1000L * second, metrics.queues.byPath());
    }
    a.suspended.incr(3);
    timeline.add(1_000_000, metrics.queues.byPath());

    JsonNode all = timeline.of(null);
    int last = Timeline.MOST_SAMPLES - 1;
    assertEquals(Timeline.MOST_SAMPLES, all.path("times").size());
    assertEquals(11_000, all.path("times").path(0).asLong());
    assertEquals(Timeline.MOST_SAMPLES + 10, all.path("running").path(last).asInt());
    assertEquals("what was before the first sample is nobody's", 3, sum(all.path("suspensions")));
    assertEquals(3, all.path("suspensions").path(last).asInt());
    assertEquals(2, all.path("kills").path(0).asInt());
    assertEquals(0, all.path("kills").path(last).asInt());
    assertEquals("[\"root.a\",\"root.b\"]", all.path("queues").toString());
    assertEquals(0, sum(timeline.of("root.a").path("kills")));
    assertEquals(1, timeline.of("root.b").path("running").path(last).asInt());
    metrics.queues.retain(Collections.emptySet());
  }

  private static int sum(JsonNode numbers) {
    int sum = 0;
    for (JsonNode number : numbers) {
      sum += number.asInt();
    }
    return sum;
  }

  private static void look(MockCluster cluster, Callable<Boolean> until) {
    MockCluster.until("the queues' metrics", () -> {
      cluster.beat();
      cluster.scheduler().locked(() -> cluster.engine().tick());
      return until.call();
    });
  }
}
