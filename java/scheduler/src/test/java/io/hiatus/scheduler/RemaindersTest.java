package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static io.hiatus.scheduler.MockCluster.queues;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import org.apache.hadoop.conf.Configuration;
import org.junit.Test;

/** On nodes whose memory is no multiple of what runs there a remainder is left over. Nobody can use it, and nobody waits for it. */
public class RemaindersTest {
  private static final int GB = 1024;
  private static final int MASTER_MB = 256;
  private static final String[] ONE_QUEUE = {"default", "default"};

  /**
   * How many containers a small job gets that asks for some beside a big one that holds all that it can, on nodes of that size, of
   * which the first has room for two masters beside.
   */
  private static int served(MockCluster cluster, int nodes, int nodeMb, String[] queues, int asked, int memoryMb) throws Exception {
    for (int i = 0; i < nodes; i++) {
      cluster.node(i == 0 ? 2 * MASTER_MB + nodeMb : nodeMb, 64);
    }
    FakeApp big = cluster.run(queues[0]);
    big.ask(100, GB);
    cluster.rounds(2);
    assertEquals((nodes - 1) * (nodeMb / GB) + (nodeMb + MASTER_MB) / GB, big.held().size());
    FakeApp small = cluster.run(queues[1]);
    small.ask(asked, memoryMb);
    cluster.rounds(6);
    assertNull(cluster.difference());
    return small.held().size();
  }

  @Test
  public void aSmallJobIsServedWhateverIsLeftOverOnEachNode() throws Exception {
    for (String policy : new String[] {"hfsp", "srpt", "fair"}) {
      for (int leftMb : new int[] {0, 256, 512, 768, 1000}) {
        try (MockCluster cluster = MockCluster.with(conf -> conf.set(hiatus("policy"), policy))) {
          long before = counter("Suspended");
          String scene = policy + ", " + leftMb + " MB left over on each node";
          assertEquals(scene, 5, served(cluster, 10, 4 * GB + leftMb, ONE_QUEUE, 5, GB));
          assertEquals(scene, 5, counter("Suspended") - before);
        }
      }
    }
  }

  @Test
  public void aQueueGetsWhatItIsGuaranteed() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> queues(conf, "root", "default", 80, "a", 20))) {
      assertEquals(6, served(cluster, 12, 3 * GB + 900, new String[] {"default", "a"}, 6, GB));
    }
  }

  private static void allMayBeSuspended(Configuration conf) {
    conf.set(hiatus("max-suspended-memory"), "1");
  }

  @Test
  public void aContainerOfAWholeNodeIsServedOnAnyNumberOfNodes() throws Exception {
    for (int count : new int[] {2, 3, 5}) {
      try (MockCluster cluster = MockCluster.with(RemaindersTest::allMayBeSuspended)) {
        assertEquals(count + " nodes", 1, served(cluster, count, 4 * GB, ONE_QUEUE, 1, 4 * GB));
      }
    }
  }
}
