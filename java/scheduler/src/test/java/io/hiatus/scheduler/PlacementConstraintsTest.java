package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.constraint.AllocationTagsManager;
import org.junit.Test;

/** What stands still is where it is: constraints of placement count it as if it ran. */
public class PlacementConstraintsTest {
  private static final String TAG = "store";

  private static int suspended(MockCluster cluster) {
    return cluster.scheduler().demotions().count();
  }

  @Test
  public void aSuspendedContainerKeepsItsKindFromItsNode() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(YarnConfiguration.RM_PLACEMENT_CONSTRAINTS_HANDLER, YarnConfiguration.SCHEDULER_RM_PLACEMENT_CONSTRAINTS_HANDLER);
      conf.set(hiatus("max-suspended-memory"), "1");
    })) {
      List<FakeNode> nodes = new ArrayList<>();
      nodes.add(cluster.node(2 * 256 + 1024, 64));
      FakeApp apart = cluster.run("default");
      FakeApp small = cluster.run("default");
      nodes.add(cluster.node(1024, 64));
      nodes.add(cluster.node(1024, 64));
      apart.askApart(TAG, 3, 1024);
      cluster.rounds(6);
      assertEquals("one on each", 3, apart.held().size());

      small.ask(1, 1024);
      cluster.rounds(6);
      assertEquals(1, small.held().size());
      assertEquals(1, suspended(cluster));
      ContainerId guest = small.held().get(0);
      AllocationTagsManager tags = cluster.context().getAllocationTagsManager();
      for (FakeNode node : nodes) {
        assertEquals(1, tags.getNodeCardinality(node.id(), apart.id(), TAG));
      }
      FakeNode shared = nodes.stream().filter(node -> node.running().contains(guest)).findFirst().get();
      assertTrue(shared.running().size() >= 2);

      small.finish(guest);
      cluster.rounds(6);
      assertEquals("it goes on", 0, suspended(cluster));
      FakeNode fresh = cluster.node(2 * 1024, 64);
      apart.askApart(TAG, 2, 1024);
      cluster.rounds(6);
      assertEquals("there is one node without", 4, apart.held().size());
      assertEquals(1, fresh.running().size());
      assertNull(cluster.difference());
    }
  }
}
