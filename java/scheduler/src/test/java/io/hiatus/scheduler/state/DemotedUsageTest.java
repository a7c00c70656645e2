package io.hiatus.scheduler.state;

import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import io.hiatus.scheduler.GpuPartition;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.OneSuspended;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceUsage;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.junit.Test;

/** What is suspended counts for no queue, and what CapacityScheduler counts is right again whatever happens to it meanwhile. */
public class DemotedUsageTest extends OneSuspended {
  private void end() throws Exception {
    small.finish();
    big.finish();
  }

  private static CSQueue leaf(MockCluster cluster, String name) {
    return cluster.scheduler().getQueue(name);
  }

  @Test
  public void onANodeThatChangesItsPartitionItCountsInNeither() throws Exception {
    try (MockCluster cluster = MockCluster.with(GpuPartition::configure)) {
      suspendOne(cluster);
      GpuPartition.join(cluster, node, false);
      ResourceUsage usage = leaf(cluster, "default").getQueueResourceUsage();
      assertEquals(0, usage.getUsed("").getMemorySize());
      assertEquals(cluster.schedulerNode(node).getAllocatedResource(), usage.getUsed("gpu"));
      assertNull(cluster.difference());

      end();
      assertEquals(0, usage.getUsed("").getMemorySize());
      assertEquals(0, usage.getUsed("gpu").getMemorySize());
    }
  }

  @Test
  public void ofAnApplicationThatIsMovedItCountsInNeitherQueuesMetrics() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> queues(conf, "root", "default", 50, "other", 50))) {
      suspendOne(cluster);
      cluster.scheduler().moveApplication(big.id(), "other");
      List<QueueMetrics> metrics = Stream.of("default", "other").map(name -> leaf(cluster, name).getMetrics())
          .collect(Collectors.toList());
      assertEquals("the small one's master and container", 256 + 1024, metrics.get(0).getAllocatedMB());
      assertEquals("the big one's and what runs of it", 256 + 3 * 1024, metrics.get(1).getAllocatedMB());

      end();
      for (QueueMetrics queue : metrics) {
        assertEquals(0, queue.getAllocatedMB());
        assertEquals(0, queue.getAllocatedContainers());
      }
    }
  }

  /** A promotion is an ask; one that a limit forbids stays, and CapacityScheduler forgets it not even when the container ends. */
  @Test
  public void whatEndsBeforeALimitLetsItBePromotedIsAskedForNoMore() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> queues(conf, "root", "default", 50, "other", 50))) {
      suspendOne(cluster);
      cluster.refresh(conf -> {
        conf.set(HiatusConfiguration.MODE, "off");
        conf.set(queue("root.default", "maximum-capacity"), "80");
      });
      small.finish(small.held().get(0));
      cluster.rounds(1);
      CSQueue leaf = leaf(cluster, "default");
      assertEquals("there is room, but not for this queue", 1024, leaf.getQueueResourceUsage().getPending().getMemorySize());
      assertEquals(1, leaf.getMetrics().getPendingContainers());

      big.finish(suspended);
      cluster.rounds(1);
      assertEquals(0, leaf.getQueueResourceUsage().getPending().getMemorySize());
      assertEquals(0, leaf.getMetrics().getPendingContainers());
    }
  }
}
