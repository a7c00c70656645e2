package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.config.HiatusConfiguration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.junit.Test;

/** Where stock is to place, in off, in observe and after a fault, the same happens as with CapacityScheduler's own class. */
public class ParityTest {
  private static final String ASYNCHRONOUSLY = "yarn.scheduler.capacity.schedule-asynchronously.";
  private static final String MULTI_NODE = "yarn.scheduler.capacity.multi-node-";

  private static void off(Configuration conf) {
    conf.set(HiatusConfiguration.MODE, "off");
  }

  private static void observe(Configuration conf) {
    conf.set(HiatusConfiguration.MODE, "observe");
  }

  /** A value that only the core refuses: as without the native library. */
  private static void broken(Configuration conf) {
    conf.set(hiatus("claim-timeout-ms"), "soon");
  }

  /** Every container that anybody gets in a busy hour, with the heartbeat behind which it came, and where it is. */
  private static List<String> journal(Consumer<Configuration> configured) throws Exception {
    List<String> journal = new ArrayList<>();
    try (MockCluster cluster = MockCluster.with(conf -> {
      queues(conf, "root", "default", 60, "other", 40);
      conf.set(queue("root.other", "maximum-capacity"), "70");
      configured.accept(conf);
    })) {
      List<FakeNode> nodes = new ArrayList<>();
      for (int mb : new int[] {8192, 4096, 6144}) {
        nodes.add(cluster.node(mb, 64));
      }
      FakeApp[] apps = {cluster.run("default"), cluster.run("other"), cluster.run("default")};
      apps[0].ask(9, 1024);
      apps[1].ask(9, 512);
      apps[2].ask(2, 3072);
      for (int round = 0; round < 12; round++) {
        for (FakeNode node : nodes) {
          node.beat();
          cluster.settle();
          for (int app = 0; app < apps.length; app++) {
            for (ContainerId got : apps[app].fetch()) {
              journal.add(round + " behind " + node.id() + ": " + app + " got " + got.getContainerId() + " on "
                  + apps[app].container(got).getNodeId());
            }
          }
        }
        // Something ends, so that reservations are fulfilled and queues shift.
        FakeApp one = apps[round % apps.length];
        if (!one.held().isEmpty()) {
          one.finish(one.held().get(0));
        }
      }
    }
    return journal;
  }

  private static void assertAsStock(Consumer<Configuration> configured) throws Exception {
    List<String> stock = journal(configured.andThen(
        conf -> conf.setClass(YarnConfiguration.RM_SCHEDULER, CapacityScheduler.class, CapacityScheduler.class)));
    assertTrue("enough happens: " + stock, stock.size() > 15);
    assertEquals(stock, journal(configured.andThen(ParityTest::off)));
    assertEquals(stock, journal(configured.andThen(ParityTest::observe)));
    assertEquals(stock, journal(configured.andThen(ParityTest::broken)));
  }

  @Test
  public void atHeartbeats() throws Exception {
    assertAsStock(conf -> { });
  }

  @Test
  public void oneContainerAHeartbeat() throws Exception {
    assertAsStock(conf -> conf.setBoolean("yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled", false));
  }

  @Test
  public void onManyNodesAtOnce() throws Exception {
    assertAsStock(conf -> {
      conf.setBoolean(MULTI_NODE + "placement-enabled", true);
      conf.set(MULTI_NODE + "sorting.policy.names", "usage");
      conf.set(MULTI_NODE + "sorting.policy", "usage");
      conf.set(MULTI_NODE + "sorting.policy.usage.class",
          "org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.ResourceUsageMultiNodeLookupPolicy");
      conf.setInt(MULTI_NODE + "sorting.policy.usage.sorting-interval.ms", 0);
    });
  }

  /** What threads of asynchronous scheduling do has no order; but they place without any heartbeat, where they may. */
  @Test
  public void asynchronousThreadsPlaceWhereStockDoesAndNowhereElse() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      off(conf);
      conf.setBoolean(ASYNCHRONOUSLY + "enable", true);
      conf.setInt(ASYNCHRONOUSLY + "maximum-threads", 3);
    })) {
      cluster.node(8192, 64);
      assertEquals(3, cluster.scheduler().getNumAsyncSchedulerThreads());
      FakeApp app = cluster.run("default");
      app.ask(2, 1024);
      MockCluster.until("they place", () -> cluster.liveTasks(app).size() == 2);

      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "order"));
      app.ask(2, 1024);
      Thread.sleep(200); // they would need a few ms
      assertEquals("Hiatus waits for a heartbeat here", 2, cluster.liveTasks(app).size());
      cluster.beat();
      assertEquals(4, cluster.liveTasks(app).size());
    }
  }

  @Test
  public void updatesOfContainersReachNodesAsConfigured() throws Exception {
    for (boolean automatic : new boolean[] {true, false}) {
      try (MockCluster cluster = MockCluster.with(
          conf -> conf.setBoolean(YarnConfiguration.RM_AUTO_UPDATE_CONTAINERS, automatic))) {
        assertEquals(automatic, cluster.scheduler().shouldContainersBeAutoUpdated());
      }
    }
  }
}
