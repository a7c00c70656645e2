package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.junit.Test;

/** Nobody is suspended for an application that CapacityScheduler would not give the room. */
public class UnusedRoomTest {
  private static final int GB = 1024;

  /** A job that holds all of two nodes of that size. */
  private static FakeApp big(MockCluster cluster, int nodeMb) throws Exception {
    cluster.node(2 * 256, 8);
    cluster.node(nodeMb, 64);
    cluster.node(nodeMb, 64);
    FakeApp big = cluster.run("default");
    big.ask(500, GB);
    cluster.rounds(4);
    assertEquals(2 * (nodeMb / GB), big.held().size());
    return big;
  }

  /** A small job's asks at two request priorities, and what was suspended for what it got of them. */
  private static void asks(String policy, int large, int small, int served, int suspended) throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(hiatus("policy"), policy))) {
      big(cluster, 4 * GB + 512);
      long before = counter("Suspended");
      FakeApp app = cluster.run("default");
      app.ask(1, 4 * GB, large, "");
      app.ask(2, GB, small, "");
      cluster.rounds(12);
      assertEquals(policy, served, app.held().size());
      assertEquals(policy, suspended, counter("Suspended") - before);
      assertNull(cluster.difference());
    }
  }

  @Test
  public void nobodyGoesForAnAskThatYarnDoesNotComeTo() throws Exception {
    for (String policy : new String[] {"hfsp", "srpt", "fair"}) {
      asks(policy, 5, 10, 0, 0);
    }
  }

  @Test
  public void whatComesFirstIsServed() throws Exception {
    asks("hfsp", 10, 5, 2, 2);
  }

  private static List<FakeNode> nodesOf(MockCluster cluster, FakeApp app) {
    return app.held().stream().map(id -> cluster.node(app.container(id).getNodeId())).distinct().collect(Collectors.toList());
  }

  @Test
  public void aBlacklistedNodeFreesNothing() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      FakeApp big = big(cluster, 4 * GB);
      ContainerId first = big.held().get(0);
      FakeNode shunned = cluster.node(big.container(first).getNodeId());
      long before = counter("Suspended");
      FakeApp small = cluster.run("default");
      small.blacklist(shunned.id().getHost());
      small.ask(3, GB);
      cluster.rounds(8);
      assertEquals("half a node may be suspended", 2, small.held().size());
      assertEquals(2, counter("Suspended") - before);
      assertTrue(!nodesOf(cluster, small).contains(shunned));
      small.unblacklist(shunned.id().getHost());
      cluster.rounds(6);
      assertEquals(3, small.held().size());
      assertEquals(3, counter("Suspended") - before);
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aNodeThatIsBlacklistedBeforeItJoinsGetsNothingOfTheApplication() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      big(cluster, 4 * GB);
      FakeApp small = cluster.run("default");
      FakeNode late = new FakeNode(cluster.freshHost(), 4 * GB, 64, true);
      small.blacklist(late.id().getHost());
      small.ask(3, GB);
      cluster.join(late);
      cluster.rounds(8);
      assertEquals(3, small.held().size());
      assertTrue(!nodesOf(cluster, small).contains(late));
      assertNull(cluster.difference());
    }
  }
}
