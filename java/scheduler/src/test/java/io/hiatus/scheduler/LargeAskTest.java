package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.junit.Test;

/** An ask of more than may be suspended on any node: its job is told so, and gets a node in another way. */
public class LargeAskTest {
  private static final int GB = 1024;

  private static String blockedBy(MockCluster cluster, FakeApp app) {
    return cluster.explained(app).path("blocked_by").asText();
  }

  @Test
  public void itsRoomIsCollectedAsTasksEndAndTheRestIsSuspended() throws Exception {
    for (String policy : new String[] {"hfsp", "srpt"}) {
      try (MockCluster cluster = MockCluster.with(conf -> conf.set(hiatus("policy"), policy))) {
        cluster.node(2 * 256, 8);
        cluster.node(4 * GB + 512, 64);
        cluster.node(4 * GB + 512, 64);
        FakeApp big = cluster.run("default");
        big.ask(500, GB);
        cluster.rounds(4);
        long before = counter("Suspended");
        FakeApp small = cluster.run("default");
        small.ask(1, 4 * GB);
        cluster.rounds(6);
        assertEquals(policy, 0, small.held().size());
        assertEquals("half of it may not be suspended for nobody", 0, counter("Suspended") - before);
        assertTrue(blockedBy(cluster, small), blockedBy(cluster, small).contains("max-suspended-memory"));
        // One task after the other ends on each node: who collects gets the room, and what lacks then may be suspended.
        for (int i = 0; i < 4 && small.held().isEmpty(); i++) {
          for (NodeId node : nodesOf(big)) {
            big.held().stream().filter(id -> big.container(id).getNodeId().equals(node)).limit(1).forEach(big::finish);
          }
          cluster.rounds(3);
        }
        assertEquals(policy, 1, small.held().size());
        assertTrue("no more than may be", counter("Suspended") - before <= 2);
        assertNull(cluster.difference());
      }
    }
  }

  private static List<NodeId> nodesOf(FakeApp app) {
    List<ContainerId> held = app.held();
    return held.stream().map(id -> app.container(id).getNodeId()).distinct().collect(Collectors.toList());
  }
}
