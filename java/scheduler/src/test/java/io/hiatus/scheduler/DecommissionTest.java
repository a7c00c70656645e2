package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.junit.Test;

/** A node that is decommissioned gracefully: its total shrinks to what is counted there, and what is suspended is not. */
public class DecommissionTest {
  private FakeNode leaving;
  private FakeApp big;
  private FakeApp small;

  /** Two of the big job's four containers on one node are suspended for the small one's, which wants more. */
  private void suspendTwo(MockCluster cluster) throws Exception {
    cluster.node(512, 64); // the masters'
    big = cluster.run("default");
    small = cluster.run("default");
    leaving = cluster.node(4 * 1024, 64);
    big.ask(4, 1024);
    cluster.rounds(5);
    assertEquals(4, big.held().size());
    small.ask(2, 1024);
    cluster.rounds(4);
    assertEquals(2, counter("Suspended"));
    assertEquals(2, small.held().size());
  }

  private List<ContainerId> suspended(MockCluster cluster) {
    List<ContainerId> suspended = new ArrayList<>(big.held());
    suspended.removeIf(id -> cluster.container(id).getExecutionType() == ExecutionType.GUARANTEED);
    return suspended;
  }

  @Test
  public void whatIsSuspendedThereGoesFirstAsRoomAppears() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendTwo(cluster);
      cluster.decommission(leaving);
      cluster.rounds(2);
      assertEquals("there is no room", 2, suspended(cluster).size());

      small.ask(6, 1024);
      small.finish(small.held().get(0));
      cluster.rounds(1);
      assertEquals("though the small job would come first", 1, suspended(cluster).size());
      cluster.rounds(2);
      small.finish(small.held().get(0));
      cluster.rounds(2);
      assertEquals(Collections.emptyList(), suspended(cluster));
      assertEquals(0, small.held().size());
      assertEquals(0, counter("Killed"));
      cluster.rounds(1);
      assertEquals("so the node keeps room for them, and continues them", 4 * 1024,
          cluster.schedulerNode(leaving).getTotalResource().getMemorySize());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void nothingMoreIsSuspendedThere() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(MockCluster.hiatus("max-suspended-memory"), "4"))) {
      suspendTwo(cluster);
      cluster.decommission(leaving);
      cluster.rounds(1);
      small.ask(2, 1024);
      cluster.scheduler().operatorService().park(big.id(), true);
      cluster.rounds(4);
      assertEquals(2, counter("Suspended"));
      assertEquals("not even what is parked", 2, suspended(cluster).size());
      assertTrue(cluster.scheduler().operatorService().explainNow().whole().path("not_parked_yet").toString()
          .contains("its node is being decommissioned"));
      assertNull(cluster.difference());
    }
  }
}
