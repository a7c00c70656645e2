package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static io.hiatus.scheduler.MockCluster.queues;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.junit.Test;

/** A queue that is guaranteed less than its job's master holds goes on beside one that never has enough. */
public class FirstJobTest {
  private static final int GB = 1024;

  private static void nearlyAllIsGreedy(Configuration conf, String policy) {
    queues(conf, "root", "default", 99, "a", 1);
    conf.set(hiatus("policy"), policy);
  }

  private static void endOneOf(FakeApp greedy) {
    greedy.held().stream().limit(1).forEach(greedy::finish);
  }

  @Test
  public void aQueueOfOnePercentKeepsItsOnlyWorker() throws Exception {
    for (String policy : new String[] {"hfsp", "fair", "fifo", "srpt"}) {
      try (MockCluster cluster = MockCluster.with(conf -> nearlyAllIsGreedy(conf, policy))) {
        cluster.node(8 * GB + 512, 64);
        FakeApp poor = cluster.run("a");
        poor.ask(1, GB);
        cluster.rounds(2);
        ContainerId worker = poor.held().get(0);
        FakeApp greedy = cluster.run("default");
        greedy.ask(40_000, GB);
        long before = counter("Suspended");
        for (int i = 0; i < 12; i++) {
          cluster.rounds(1);
          endOneOf(greedy);
          assertEquals(policy, ExecutionType.GUARANTEED, cluster.container(worker).getExecutionType());
        }
        assertEquals(policy, 0, counter("Suspended") - before);
        assertNull(cluster.difference());
      }
    }
  }

  @Test
  public void aQueueOfOnePercentGetsItsFirstWorkerOfAFullNode() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> nearlyAllIsGreedy(conf, "hfsp"))) {
      cluster.node(8 * GB + 512, 64);
      FakeApp greedy = cluster.run("default");
      greedy.ask(40_000, GB);
      cluster.rounds(3);
      FakeApp poor = cluster.run("a");
      poor.ask(3, GB);
      cluster.rounds(6);
      assertEquals("its guarantee is no container more", 1, poor.held().size());
      assertNull(cluster.difference());
    }
  }
}
