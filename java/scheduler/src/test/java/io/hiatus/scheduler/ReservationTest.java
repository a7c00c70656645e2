package io.hiatus.scheduler;

import static java.util.Collections.emptyList;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;

import io.hiatus.scheduler.config.HiatusConfiguration;
import java.util.ArrayList;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.junit.Test;

/** Reservations are stock's way with large asks; what it left must not stand in Hiatus's. */
public class ReservationTest {
  private FakeNode node;
  private FakeApp big;
  private FakeApp large;

  /** Stock has reserved the node for a container of 2 GB that does not fit. */
  private void reserve(MockCluster cluster) throws Exception {
    node = cluster.node(2 * 256 + 4 * 1024, 64);
    big = cluster.run("default");
    large = cluster.run("default");
    big.ask(3, 1024);
    cluster.rounds(4);
    // Without this one the queue's limit would not let it reserve; with it the container does not fit there either.
    cluster.node(1536, 64);
    large.ask(1, 2048);
    cluster.rounds(2);
    assertEquals(emptyList(), large.held());
    assertNotNull(cluster.schedulerNode(node).getReservedContainer());
    assertNull(cluster.difference());
  }

  @Test
  public void whatStockReservedDoesNotLockTheNodeWhenHiatusTakesOver() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(HiatusConfiguration.MODE, "observe"))) {
      reserve(cluster);
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "order"));
      FakeApp small = cluster.run("default");
      assertNull(cluster.schedulerNode(node).getReservedContainer());
      assertNull(cluster.difference());
      // Two: the new application's master may have started there, if the large one came after the big one in the order.
      for (ContainerId ended : new ArrayList<>(big.held().subList(0, 2))) {
        big.finish(ended);
      }
      cluster.rounds(3);
      assertEquals("and the one it was reserved for is served", 1, large.held().size());
      assertNull(cluster.difference());
      assertNotNull(small.masterContainer());
    }
  }

  @Test
  public void stockFulfilsItsReservationsInObserve() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(HiatusConfiguration.MODE, "observe"))) {
      reserve(cluster);
      big.finish(big.held().get(0));
      cluster.rounds(3);
      assertEquals(1, large.held().size());
      assertNull(cluster.schedulerNode(node).getReservedContainer());
      assertNull(cluster.difference());
    }
  }
}
