package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.LeafQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.junit.Test;

/** Who is let in beside jobs that hold all that CapacityScheduler lets ApplicationMasters hold, which is a tenth of the queue by default. */
public class AdmissionTest {
  private static final int GB = 1024;
  private static final int MASTER_MB = 256;
  private static final int ROUNDS = 8;
  private static final long SEED = 25;

  private final List<FakeApp> apps = new ArrayList<>();

  private static void tenth(Configuration conf) {
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.1");
  }

  private static MockCluster tenthWith(String knob, String value) throws Exception {
    return MockCluster.with(conf -> {
      tenth(conf);
      conf.set(hiatus(knob), value);
    });
  }

  private FakeApp submit(MockCluster cluster) throws Exception {
    apps.add(cluster.submit("default", "user"));
    return apps.get(apps.size() - 1);
  }

  private FakeApp submit(MockCluster cluster, String tag, int priority) throws Exception {
    apps.add(cluster.submit(cluster.builder("default", "user").withApplicationTags(Collections.singleton(tag))
        .withAppPriority(Priority.newInstance(priority)).build()));
    return apps.get(apps.size() - 1);
  }

  /** Rounds of heartbeats. Each master that gets its container starts, and asks for as many as its job has tasks. */
  private void rounds(MockCluster cluster, int count, FakeApp small) throws Exception {
    for (int i = 0; i < count; i++) {
      cluster.rounds(1);
      for (FakeApp app : apps) {
        if (!app.hasMaster() && app.app().getCurrentAppAttempt().getMasterContainer() != null) {
          app.startMaster().ask(app == small ? 2 : 500, GB);
        }
      }
    }
  }

  private FakeApp smallBehind(MockCluster cluster, int bigs) throws Exception {
    apps.clear();
    for (int i = 0; i < bigs; i++) {
      submit(cluster);
      rounds(cluster, 1, null);
    }
    rounds(cluster, ROUNDS, null);
    FakeApp small = submit(cluster);
    rounds(cluster, ROUNDS, small);
    return small;
  }

  private long masters() {
    return apps.stream().filter(FakeApp::hasMaster).count();
  }

  private static LeafQueue queue(MockCluster cluster) {
    return (LeafQueue) cluster.scheduler().getQueue("default");
  }

  /** CapacityScheduler's books say of ApplicationMasters, of the queue's and the user's, what is so. */
  private static void assertBooks(MockCluster cluster) {
    LeafQueue queue = queue(cluster);
    long active = queue.getApplications().stream().mapToLong(app -> app.getAMResource("").getMemorySize()).sum();
    assertEquals(active, queue.getQueueResourceUsage().getAMUsed().getMemorySize());
    assertEquals(active, queue.getUser("user").getConsumedAMResources().getMemorySize());
    assertNull(cluster.difference());
  }

  @Test
  public void aSmallJobBehindTwelveBigOnesWaitsUnderStockAndRunsAtOnceUnderHiatus() throws Exception {
    try (MockCluster cluster = tenthWith("mode", "off")) {
      cluster.node(9 * GB, 64);
      cluster.node(9 * GB, 64);
      FakeApp small = smallBehind(cluster, 12);
      assertEquals("a tenth, rounded up", 8, queue(cluster).getNumActiveApplications());
      assertTrue("it waits", !small.hasMaster());
    }
    for (String policy : new String[] {"srpt", "hfsp"}) {
      try (MockCluster cluster = tenthWith("policy", policy)) {
        cluster.node(9 * GB, 64);
        cluster.node(9 * GB, 64);
        FakeApp small = smallBehind(cluster, 12);
        assertEquals(policy, 13, queue(cluster).getNumActiveApplications());
        assertEquals(policy, 2, small.held().size());
        assertBooks(cluster);
      }
    }
  }

  @Test
  public void whatIsLetInBeyondTheLimitHasABoundOfItsOwn() throws Exception {
    try (MockCluster cluster = tenthWith("max-am-share", "0.15")) {
      cluster.node(8 * GB, 64);
      cluster.node(8 * GB, 64);
      smallBehind(cluster, 12);
      assertEquals("0.15 of 64 masters", 9, masters());
      assertBooks(cluster);
    }
  }

  @Test
  public void thoseThatWaitAreLetInByPriorityAndThenBySize() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      tenth(conf);
      conf.set(hiatus("max-am-share"), "0");
      conf.set("yarn.cluster.max-application-priority", "9");
    })) {
      cluster.node(4 * GB, 64);
      apps.clear();
      FakeApp[] inside = {submit(cluster), submit(cluster)};
      FakeApp large = submit(cluster, "hiatus.size=90000", 0);
      FakeApp small = submit(cluster, "hiatus.size=9", 0);
      FakeApp unknown = submit(cluster);
      FakeApp urgent = submit(cluster, "hiatus.size=95000", 5);
      rounds(cluster, 3, null);
      assertEquals("a tenth of 4 GB, rounded up", 2, masters());
      FakeApp[] order = {urgent, small};
      for (int i = 0; i < order.length; i++) {
        cluster.rm().killApp(inside[i].id());
        cluster.rm().waitForState(inside[i].id(), RMAppState.KILLED);
        rounds(cluster, 3, null);
        assertTrue("number " + i, order[i].hasMaster());
        assertEquals(3 + i, masters());
      }
      assertTrue(!large.hasMaster() && !unknown.hasMaster());
      assertBooks(cluster);

      // After a fault, or in the mode off, they come as under stock.
      cluster.refresh(conf -> conf.set(hiatus("mode"), "off"));
      cluster.rm().killApp(urgent.id());
      cluster.rm().waitForState(urgent.id(), RMAppState.KILLED);
      rounds(cluster, 3, null);
      assertTrue("who came first", large.hasMaster() && !unknown.hasMaster());
    }
  }

  @Test
  public void whoWasLetInStaysInOverARestart() throws Exception {
    try (MockCluster cluster = MockCluster.with(AdmissionTest::tenth)) {
      cluster.node(9 * GB, 64);
      cluster.node(9 * GB, 64);
      FakeApp small = smallBehind(cluster, 12);
      assertEquals(13, queue(cluster).getNumActiveApplications());
      cluster.restart();
      for (FakeApp app : apps) {
        if (app.hasMaster()) {
          app.reregister();
          app.ask(app == small ? 2 : 500, GB);
        }
      }
      rounds(cluster, ROUNDS, small);
      assertEquals(13, queue(cluster).getNumActiveApplications());
      assertBooks(cluster);
    }
  }

  /** Clusters and numbers drawn at random: the small job runs, and room is left for a container of each that was let in. */
  @Test
  public void aSmallJobRunsBesideAnyNumberOfBigOnesAndThereIsRoomForAll() throws Exception {
    Random random = new Random(SEED);
    for (int i = 0; i < 6; i++) {
      int nodes = 1 + random.nextInt(3);
      int nodeMb = (4 + random.nextInt(5)) * GB;
      int fitting = nodes * nodeMb / (MASTER_MB + GB);
      int bigs = 2 + random.nextInt(fitting - 2);
      String scene = bigs + " big ones on " + nodes + " nodes of " + nodeMb + " MB";
      try (MockCluster cluster = MockCluster.with(AdmissionTest::tenth)) {
        for (int node = 0; node < nodes; node++) {
          cluster.node(nodeMb, 64);
        }
        FakeApp small = smallBehind(cluster, bigs);
        assertTrue(scene, !small.held().isEmpty());
        int needed = queue(cluster).getApplications().stream().map(FiCaSchedulerApp::getAMResource)
            .mapToInt(master -> (int) master.getMemorySize() + GB).sum();
        assertTrue(scene + " need " + needed, needed <= nodes * nodeMb);
        assertBooks(cluster);
      }
    }
  }
}
