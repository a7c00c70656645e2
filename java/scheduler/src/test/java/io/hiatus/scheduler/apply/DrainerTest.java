package io.hiatus.scheduler.apply;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.gauge;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static java.util.Collections.singletonList;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.FakeNode;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.OneSuspended;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.junit.Test;

/** Nothing stays suspended because Hiatus does not place any more, whatever the reason, a restart between included. */
public class DrainerTest extends OneSuspended {
  /** How many are suspended, as told in every mode. */
  private static int told(MockCluster cluster) {
    return cluster.scheduler().operatorService().explainNow().whole().path("suspended_now").asInt();
  }

  private void assertDrained(MockCluster cluster) throws Exception {
    assertEquals(1, told(cluster));
    cluster.rounds(3);
    assertEquals("there is no room", ExecutionType.OPPORTUNISTIC, cluster.container(suspended).getExecutionType());

    // Somebody else wants the room, too.
    big.ask(2, 1024);
    small.finish(small.held().get(0));
    cluster.rounds(3);
    assertEquals(ExecutionType.GUARANTEED, cluster.container(suspended).getExecutionType());
    assertTrue("the node was told", node.told().contains("promote " + suspended));
    assertEquals(0, told(cluster));
    assertEquals(2 * 256 + 4 * 1024, cluster.schedulerNode(node).getAllocatedResource().getMemorySize());
  }

  private void restartedWith(Consumer<Configuration> change) throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      cluster.restart(change);
      cluster.reregisterMasters();
      assertDrained(cluster);
    }
  }

  @Test
  public void aResourceManagerThatComesBackInOffDrains() throws Exception {
    restartedWith(conf -> conf.set(HiatusConfiguration.MODE, "off"));
  }

  @Test
  public void aResourceManagerThatComesBackInObserveDrains() throws Exception {
    restartedWith(conf -> conf.set(HiatusConfiguration.MODE, "observe"));
  }

  @Test
  public void aResourceManagerThatComesBackWithoutACoreDrains() throws Exception {
    // As without the library: a value that only the core refuses.
    restartedWith(conf -> conf.set(hiatus("claim-timeout-ms"), "soon"));
  }

  @Test
  public void aRefreshToOffDrains() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      assertDrained(cluster);
    }
  }

  @Test
  public void whereAsynchronousThreadsPlaceWhatIsSuspendedComesFirstToo() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.setBoolean("yarn.scheduler.capacity.schedule-asynchronously.enable", true);
      conf.setInt("yarn.scheduler.capacity.schedule-asynchronously.maximum-threads", 2);
    })) {
      suspendOne(cluster);
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      assertDrained(cluster);
    }
  }

  @Test
  public void whatFindsNoRoomIsKilledOnlyIfTheAdministratorAllowsIt() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      cluster.rounds(2);
      Thread.sleep(20);
      cluster.rounds(2);
      assertEquals(0, counter("Killed"));

      cluster.refresh(conf -> {
        conf.set(HiatusConfiguration.MODE, "off");
        conf.set(HiatusConfiguration.DRAIN_KILL_MS, "20");
      });
      MockCluster.until("its time is over", () -> {
        cluster.rounds(1);
        return counter("Killed") == 1;
      });
      assertNull(cluster.container(suspended));
      assertEquals(0, gauge("SuspendedNow"));
      cluster.rounds(1);
      assertEquals(ContainerExitStatus.PREEMPTED, big.completed().get(0).getExitStatus());
      assertEquals(singletonList(suspended), singletonList(big.completed().get(0).getContainerId()));
    }
  }

  @Test
  public void thatTimeBeginsWithANodesOwnFirstHeartbeat() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      FakeNode other = cluster.node(1024, 4);
      big.ask(1, 1024);
      cluster.rounds(3); // the other node is full, too
      cluster.restart(conf -> {
        conf.set(HiatusConfiguration.MODE, "off");
        conf.set(HiatusConfiguration.DRAIN_KILL_MS, "1000");
      });
      other.beat();
      cluster.settle();
      Thread.sleep(1_100);
      node.beat();
      cluster.settle();
      assertNotNull(cluster.container(suspended));
      MockCluster.until("its time is over", () -> {
        cluster.beat();
        return cluster.container(suspended) == null;
      });
    }
  }

  @Test
  public void whatEndsIsNotCountedAnyMore() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      big.finish(suspended);
      cluster.rounds(1);
      assertEquals(0, gauge("SuspendedNow"));
    }
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      cluster.rm().killApp(big.id());
      cluster.settle();
      cluster.rounds(1);
      assertEquals(0, gauge("SuspendedNow"));
    }
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      cluster.lose(node);
      assertEquals(0, gauge("SuspendedNow"));
    }
  }
}
