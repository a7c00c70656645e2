package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static java.util.Arrays.asList;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.config.HiatusConfiguration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.junit.Test;

/** CapacityScheduler's limits hold, and its services are what they were. */
public class LimitsTest {
  @Test
  public void oneApplicationGetsWhatCapacitySchedulerWouldGiveIt() throws Exception {
    List<String> stock = twoNodesAndOneApplication(CapacityScheduler.class);
    List<String> hiatus = twoNodesAndOneApplication(MockCluster.OpenScheduler.class);
    assertEquals(stock, hiatus);
  }

  /** What an operator sees step by step. */
  private static List<String> twoNodesAndOneApplication(Class<? extends ResourceScheduler> scheduler) throws Exception {
    List<String> seen = new ArrayList<>();
    try (MockCluster cluster = MockCluster.with(
        conf -> conf.setClass(YarnConfiguration.RM_SCHEDULER, scheduler, ResourceScheduler.class))) {
      cluster.node(2048 + 256, 64);
      cluster.node(2048, 64);
      FakeApp app = cluster.run("default");
      seen.add(metrics(cluster));
      app.ask(3, 512, 20, "");
      app.ask(2, 1024, 10, "");
      cluster.rounds(12);
      seen.add(metrics(cluster) + " " + priorities(app));
      app.release(oneOf(app, 20));
      app.finish(oneOf(app, 10));
      cluster.rounds(3);
      seen.add(metrics(cluster) + " " + priorities(app));
      app.ask(100, 512, 20, "");
      cluster.rounds(12);
      seen.add(metrics(cluster) + " " + priorities(app));
      app.finish();
      cluster.rounds(2);
      seen.add(metrics(cluster));
    }
    return seen;
  }

  private static String metrics(MockCluster cluster) {
    QueueMetrics root = cluster.rm().getResourceScheduler().getRootQueueMetrics();
    return root.getAllocatedContainers() + " containers, " + root.getAllocatedMB() + " MB, available "
        + root.getAvailableMB() + " MB, pending " + root.getPendingContainers() + ", running " + root.getAppsRunning();
  }

  private static ContainerId oneOf(FakeApp app, int priority) {
    return app.held().stream().filter(id -> app.container(id).getPriority().getPriority() == priority).findFirst().get();
  }

  /** How many containers of each priority it holds. */
  private static String priorities(FakeApp app) {
    long high = app.held().stream().filter(id -> app.container(id).getPriority().getPriority() == 10).count();
    return high + " of priority 10, " + (app.held().size() - high) + " of priority 20";
  }

  @Test
  public void aQueuesMaximumHoldsAndItsRefusalsAreNotRepeatedBlindly() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      queues(conf, "root", "default", 50, "other", 50);
      conf.set(queue("root.default", "maximum-capacity"), "50");
    })) {
      cluster.node(4096, 64);
      cluster.node(4096, 64);
      FakeApp app = cluster.run("default");
      app.ask(20, 1024);
      cluster.rounds(5);
      assertEquals("half of 8 GB, with the master", 3, app.held().size());
      long before = counter("Rejected");
      cluster.rounds(10);
      assertEquals(3, app.held().size());
      long refused = counter("Rejected") - before;
      assertTrue("at most once for each heartbeat of a node: " + refused, refused <= 2 * 10);
      assertNull(cluster.difference());

      FakeApp other = cluster.run("other");
      other.ask(8, 512);
      cluster.rounds(4);
      assertEquals("others get what it cannot use", 8, other.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aUsersLimitHoldsAndFreesNothingInVain() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(queue("root.default", "user-limit-factor"), "0.25");
      conf.set(queue("root.default", "minimum-user-limit-percent"), "25");
    })) {
      cluster.node(8192, 64);
      FakeApp greedy = cluster.run("default");
      greedy.ask(20, 512);
      cluster.rounds(5);
      long held = greedy.held().size();
      assertTrue("a quarter of 8 GB with the master, rounded up at most by one: " + held, held >= 3 && held <= 4);
      FakeApp other = cluster.started(cluster.submit("default", "somebody-else"));
      other.ask(2, 512);
      cluster.rounds(4);
      assertEquals(2, other.held().size());
      assertEquals("nobody is suspended for whom the limit allows no more", 0, counter("Suspended"));
      assertEquals(held, greedy.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aSmallJobTakesFromItsOwnUserIfThatIsAtItsLimit() throws Exception {
    takesFromItsOwnUser(conf -> { });
  }

  @Test
  public void whereUsersOfAnotherQueueHaveWeightsTheLimitsOfThisOneAreKnownAllTheSame() throws Exception {
    takesFromItsOwnUser(conf -> {
      queues(conf, "root", "default", 100, "other", 0);
      conf.set(queue("root.other", "user-settings.alice.weight"), "0.5");
    });
  }

  private static void takesFromItsOwnUser(Consumer<Configuration> more) throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      more.accept(conf);
      conf.set(queue("root.default", "user-limit-factor"), "0.46875");
    })) {
      cluster.node(8192, 64);
      FakeApp own = cluster.started(cluster.submit("default", "somebody-else"));
      own.ask(40, 512);
      cluster.rounds(4);
      FakeApp last = cluster.run("default");
      last.ask(40, 512);
      cluster.rounds(4);
      assertEquals("3840 MB and one more; the node is full", asList(8, 7),
          asList(own.held().size(), last.held().size()));
      FakeApp small = cluster.started(cluster.submit("default", "somebody-else"));
      small.ask(2, 512);
      cluster.rounds(12);
      assertEquals("the small job came first", 2, small.held().size());
      assertEquals("though the other user's job would be the first to give", 0, suspended(cluster, last));
      assertTrue(suspended(cluster, own) > 0);
      assertNull(cluster.difference());
    }
  }

  private static long suspended(MockCluster cluster, FakeApp app) {
    return app.held().stream().filter(id -> cluster.container(id).getExecutionType() == ExecutionType.OPPORTUNISTIC).count();
  }

  @Test
  public void aLargeAskIsNotStarvedByAStreamOfSmallOnes() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(HiatusConfiguration.MODE, "order");
      conf.set(queue("root.default", "hiatus.policy"), "fifo");
    })) {
      cluster.node(2 * 256 + 4 * 1024, 64);
      FakeApp large = cluster.run("default");
      FakeApp stream = cluster.run("default");
      stream.ask(4, 1024);
      cluster.rounds(3);
      assertEquals(4, stream.held().size());
      large.ask(1, 4096);
      int rounds = 0;
      for (; large.held().isEmpty() && rounds < 12; rounds++) {
        // One container ends in every round, and the stream wants another four.
        if (!stream.held().isEmpty()) {
          stream.finish(stream.held().get(0));
        }
        stream.ask(4, 1024);
        cluster.rounds(1);
      }
      assertEquals("it got its 4 GB within " + rounds + " rounds", 1, large.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void anExclusivePartitionServesOnlyWhoAsksForIt() throws Exception {
    try (MockCluster cluster = MockCluster.with(GpuPartition::configure)) {
      FakeNode plain = cluster.node(2048 + 256, 64);
      FakeApp app = cluster.run("default");
      FakeNode gpu = GpuPartition.node(cluster, true);
      app.ask(6, 1024);
      cluster.rounds(4);
      assertEquals("what fits beside the master", 2, app.held().size());
      assertEquals(0, gpu.running().size());
      app.ask(2, 512, 5, "gpu");
      cluster.rounds(4);
      assertEquals(2, gpu.running().size());
      assertEquals(3, plain.running().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void inAnExclusivePartitionAJobGivesWayAndGoesOn() throws Exception {
    try (MockCluster cluster = MockCluster.with(GpuPartition::configure)) {
      cluster.node(2 * 256, 64);
      FakeApp big = cluster.run("default");
      FakeApp small = cluster.run("default");
      GpuPartition.node(cluster, true);
      big.ask(4, 1024, 5, "gpu");
      cluster.rounds(4);
      small.ask(1, 1024, 5, "gpu");
      cluster.rounds(4);
      assertEquals(1, small.held().size());
      assertEquals(1, suspended(cluster, big));
      assertNull(cluster.difference());

      small.finish();
      cluster.rounds(4);
      assertEquals(0, suspended(cluster, big));
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aSharedPartitionsIdleRoomServesOthersAfterItsOwn() throws Exception {
    try (MockCluster cluster = MockCluster.with(GpuPartition::configure)) {
      cluster.node(2048 + 256, 64);
      FakeApp app = cluster.run("default");
      FakeNode gpu = GpuPartition.node(cluster, false);
      app.ask(2, 1024, 5, "gpu");
      app.ask(6, 1024, 20, "");
      cluster.rounds(12);
      assertEquals("two of its own and two guests", 4, gpu.running().size());
      assertEquals(6, app.held().size());
      long own = gpu.running().stream().filter(id -> app.container(id).getPriority().getPriority() == 5).count();
      assertEquals(2, own);
      assertNull(cluster.difference());

      for (ContainerId id : new ArrayList<>(app.held())) {
        app.finish(id);
      }
      cluster.rounds(3);
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aGuestGoesOnInAPartitionInWhichItsQueueHasNoPart() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      GpuPartition.configure(conf);
      queues(conf, "root", "default", 50, "other", 50);
      conf.set(queue("root.other", "accessible-node-labels"), " ");
    })) {
      cluster.node(2 * 256 + 1024, 64);
      FakeApp guest = cluster.run("other");
      FakeApp own = cluster.run("default");
      FakeNode gpu = GpuPartition.node(cluster, false);
      guest.ask(5, 1024);
      cluster.rounds(12);
      assertEquals(4, gpu.running().size());
      own.ask(2, 1024, 5, "gpu");
      cluster.rounds(6);
      assertEquals(2, own.held().size());
      assertEquals(2, suspended(cluster, guest));

      for (ContainerId id : own.held()) {
        own.finish(id);
      }
      cluster.rounds(4);
      assertEquals(0, suspended(cluster, guest));
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aNodeThatChangesItsPartitionIsServedByItsNewOne() throws Exception {
    try (MockCluster cluster = MockCluster.with(GpuPartition::configure)) {
      cluster.node(256, 64);
      FakeApp app = cluster.run("default");
      FakeNode gpu = GpuPartition.node(cluster, true);
      app.ask(1, 1024, 5, "gpu");
      cluster.rounds(3);
      assertEquals(1, gpu.running().size());
      GpuPartition.leave(cluster, gpu);
      cluster.settle();
      assertNull(cluster.difference());
      app.ask(2, 512);
      cluster.rounds(3);
      assertEquals(3, gpu.running().size());
      assertNull(cluster.difference());
    }
  }
}
