package io.hiatus.scheduler.apply;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static io.hiatus.scheduler.MockCluster.until;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.FakeNode;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.config.HiatusConfiguration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.Test;

/** Beside Hiatus CapacityScheduler's own preemption kills nothing; where stock places it works as configured. */
public class PreemptionMonitorGuardTest {
  private FakeApp big;

  /** Two queues of half the cluster each, and a preemption that is in a hurry; the queue that loses allows Hiatus nothing. */
  public static void hasty(Configuration conf) {
    queues(conf, "root", "default", 50, "other", 50);
    conf.set(queue("root.default", "hiatus.preemption"), "wait");
    conf.setBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, true);
    String monitor = "yarn.resourcemanager.monitor.capacity.preemption.";
    conf.set(monitor + "monitoring_interval", "50");
    conf.set(monitor + "max_wait_before_kill", "100");
    conf.set(monitor + "total_preemption_per_round", "1");
    conf.set(monitor + "natural_termination_factor", "1");
  }

  private void fill(MockCluster cluster) throws Exception {
    cluster.node(2 * 256 + 4 * 1024, 64);
    big = cluster.run("default");
    big.ask(8, 1024);
    cluster.rounds(5);
    assertEquals("idle room is lent", 4, big.held().size());
    cluster.run("other").ask(8, 1024);
    cluster.rounds(1);
  }

  private static String state(MockCluster cluster) {
    return cluster.scheduler().operatorService().explainNow().whole().path("stock_preemption").asText();
  }

  private void stockPreempts(MockCluster cluster) throws Exception {
    until("stock gives the other queue its half", () -> {
      cluster.rounds(1);
      return !big.completed().isEmpty();
    });
    assertEquals(ContainerExitStatus.PREEMPTED, big.completed().get(0).getExitStatus());
  }

  @Test
  public void itKillsNothingWhileHiatusPlacesAndWorksOnceStockDoes() throws Exception {
    try (MockCluster cluster = MockCluster.with(PreemptionMonitorGuardTest::hasty)) {
      fill(cluster);
      assertEquals("switched off", state(cluster));
      until("its orders are refused, again and again", () -> {
        cluster.rounds(1);
        return counter("StockPreemptionsRefused") > 20;
      });
      assertEquals("what the queue does not allow, nobody does", 4, big.held().size());
      assertNull(cluster.difference());

      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      assertEquals("on", state(cluster));
      stockPreempts(cluster);
    }
  }

  /** As `yarn rmadmin -updateNodeResource` with a time-out has it: that is nobody's preemption. */
  @Test
  public void whatANodeThatWasMadeSmallerMustGiveUpIsTaken() throws Exception {
    try (MockCluster cluster = MockCluster.with(PreemptionMonitorGuardTest::hasty)) {
      FakeNode node = cluster.node(256 + 4 * 1024, 64);
      big = cluster.run("default");
      big.ask(4, 1024);
      cluster.rounds(4);
      assertEquals(4, big.held().size());
      cluster.resize(node, 256 + 2 * 1024, 0);
      cluster.rounds(3);
      assertEquals(2, big.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void whereHiatusIsOffItWorksAsConfigured() throws Exception {
    for (String mode : new String[] {"off", "observe"}) {
      try (MockCluster cluster = MockCluster.with(conf -> {
        hasty(conf);
        conf.set(HiatusConfiguration.MODE, mode);
      })) {
        fill(cluster);
        stockPreempts(cluster);
        assertEquals(0, counter("StockPreemptionsRefused"));
      }
    }
  }

  @Test
  public void whetherItIsThereIsTold() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      assertEquals("not configured", state(cluster));
    }
    try (MockCluster cluster = MockCluster.with(conf -> {
      hasty(conf);
      conf.set(YarnConfiguration.RM_SCHEDULER_MONITOR_POLICIES, "");
    })) {
      assertEquals("not configured", state(cluster));
    }
  }
}
