package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.gauge;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static java.util.Arrays.asList;
import static java.util.Collections.emptyList;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.hiatus.report.ExecutorReport.Worth;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.commons.lang3.reflect.FieldUtils;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.junit.Test;

/** A big job steps aside for a small one: suspension, the rungs below and above it, and what must never happen. */
public class SuspensionTest {
  /** Two masters of 256 MB and four containers of 1 GB fit, and no more. */
  private static final int NODE_MB = 2 * 256 + 4 * 1024;

  private FakeNode node;
  private FakeApp big;
  private FakeApp small;

  /** The big job fills the node; the small one's master runs beside it and wants one container. */
  private void fill(MockCluster cluster, FakeNode on) throws Exception {
    node = on;
    big = cluster.run("default");
    small = cluster.run("default");
    big.ask(8, 1024);
    cluster.rounds(5);
    assertEquals("the big job fills the node", 4, big.held().size());
    assertNull(cluster.difference());
    small.ask(1, 1024);
  }

  private ContainerId youngest() {
    return Collections.max(big.held());
  }

  @Test
  public void theBooksAgreeWhileWhatADemotionLeavesBehindWaitsForItsRelease() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      fill(cluster, cluster.node(NODE_MB, 16));
      assertNull(cluster.differenceAtOnce());
      assertEquals(ExecutionType.OPPORTUNISTIC, cluster.container(youngest()).getExecutionType());
    }
  }

  @Test
  public void theYoungestContainerIsDemotedAndItsRoomGoesToTheSmallJobWhenTheNodeCertainlyKnows() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      fill(cluster, cluster.node(NODE_MB, 16));

      cluster.beat();
      assertEquals(ExecutionType.OPPORTUNISTIC, cluster.container(youngest()).getExecutionType());
      assertEquals("the answer to the heartbeat of the decision was under way already", emptyList(), node.told());
      assertEquals(emptyList(), small.fetch());

      cluster.beat();
      assertEquals("the node learns it at once", asList("demote " + youngest()), node.told());
      assertEquals("the node may not have got the answer", emptyList(), small.fetch());
      assertEquals(emptyList(), big.fetch());

      cluster.beat();
      assertEquals("the node has got the answer", 1, small.fetch().size());
      assertEquals("the big job does not get the room that was freed for the small one", emptyList(), big.fetch());
      assertEquals(1, gauge("SuspendedNow"));
      cluster.beat();
      assertNull(cluster.difference());

      small.finish(small.held().get(0));
      cluster.beat();
      big.ask(0, 1024);
      assertEquals("resumed in the same heartbeat", ExecutionType.GUARANTEED,
          cluster.container(youngest()).getExecutionType());
      cluster.beat();
      assertEquals(asList("demote " + youngest(), "promote " + youngest()), node.told());
      assertEquals("a resumed container is no new one", emptyList(), big.fetch());
      assertEquals(1, counter("Suspended"));
      assertEquals(1, counter("Resumed"));
      assertEquals(0, counter("Killed"));
      assertNull(cluster.difference());

      // Not hasPendingResourceRequest(): YARN's Resources.isNone() does not know every zero.
      assertEquals("what was resumed leaves nothing behind in CapacityScheduler's own books", 0,
          ((AtomicLong) FieldUtils.readField(cluster.attempt(big), "unconfirmedAllocatedMem", true)).get());
    }
  }

  @Test
  public void anExecutorThatIdlesIsDemotedBeforeTheYoungest() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      fill(cluster, cluster.node(NODE_MB, 16));
      ContainerId oldest = Collections.min(big.held());
      cluster.facts().executor(oldest, Worth.IDLE);
      cluster.beat();
      assertEquals(ExecutionType.OPPORTUNISTIC, cluster.container(oldest).getExecutionType());
      assertEquals(ExecutionType.GUARANTEED, cluster.container(youngest()).getExecutionType());
    }
  }

  @Test
  public void whatWasSuspendedFinishesLikeAnyOther() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      fill(cluster, cluster.node(NODE_MB, 16));
      cluster.rounds(4);
      ContainerId suspended = youngest();
      assertTrue(node.isDemoted(suspended));

      big.finish(suspended);
      cluster.rounds(2);
      assertNull(cluster.container(suspended));
      assertNull(cluster.difference());

      small.finish();
      cluster.rounds(3);
      assertEquals("the big job goes on with what it wanted", 4, big.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aReleasedSuspendedContainerIsForgotten() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      fill(cluster, cluster.node(NODE_MB, 16));
      cluster.rounds(4);
      ContainerId suspended = youngest();
      big.release(suspended);
      assertNull(cluster.difference());
      cluster.rounds(1);
      assertFalse("the node is told to end it", node.running().contains(suspended));
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aKilledJobLeavesNoSuspendedContainerBehind() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      fill(cluster, cluster.node(NODE_MB, 16));
      cluster.rounds(4);
      ContainerId suspended = youngest();
      cluster.rm().killApp(big.id());
      cluster.beat();
      cluster.beat();
      assertNull(cluster.container(suspended));
      assertFalse(node.running().contains(suspended));
      assertNull(cluster.difference());
      assertEquals(0, cluster.facts().suspended().size());
    }
  }

  @Test
  public void aMasterIsNeverDemotedOrKilled() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(HiatusConfiguration.MODE, "kill"))) {
      FakeNode only = cluster.node(2 * 256 + 512, 16);
      big = cluster.run("default");
      big.ask(2, 256);
      cluster.rounds(2);
      small = cluster.run("default");
      small.ask(4, 512);
      cluster.rounds(6);
      assertEquals(ExecutionType.GUARANTEED, cluster.container(big.masterContainer()).getExecutionType());
      assertEquals(ExecutionType.GUARANTEED, cluster.container(small.masterContainer()).getExecutionType());
      assertTrue(only.told().stream().noneMatch(told -> told.contains(big.masterContainer().toString())));
      assertNull(cluster.difference());
    }
  }

  @Test
  public void orderTakesNothingBackAndServesTheSmallJobFirst() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(HiatusConfiguration.MODE, "order"))) {
      fill(cluster, cluster.node(NODE_MB, 16));
      cluster.rounds(4);
      assertEquals("nothing is suspended", 0, counter("Suspended"));
      assertEquals(emptyList(), small.held());

      big.finish(big.held().get(0));
      cluster.rounds(1);
      assertEquals("though the big job asked long before", 1, small.held().size());
      assertEquals(3, big.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void observeChangesNothingAndCountsWhatItWouldHaveDone() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(HiatusConfiguration.MODE, "observe"))) {
      fill(cluster, cluster.node(NODE_MB, 16));
      cluster.rounds(4);
      assertEquals(0, counter("Suspended"));
      assertEquals(0, counter("Assigned"));
      assertTrue("proposals are counted: " + counter("Observed"), counter("Observed") > 0);
      assertNull(cluster.difference());

      big.finish(big.held().get(0));
      cluster.rounds(1);
      assertEquals("stock serves the one that came first", 4, big.held().size());
      assertEquals(emptyList(), small.held());
    }
  }

  @Test
  public void offIsCapacitySchedulerWithoutACore() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(HiatusConfiguration.MODE, "off"))) {
      cluster.node(NODE_MB, 16);
      big = cluster.run("default");
      big.ask(8, 1024);
      cluster.rounds(5);
      assertEquals(4, big.held().size());
      assertNull(cluster.facts());
      assertEquals("off is no fault", 0, gauge("Fallback"));
    }
  }

  @Test
  public void suspendDoesNotTouchContainersWhereTheNodeCannot() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      fill(cluster, cluster.nodeWithoutSuspension(NODE_MB, 16));
      cluster.rounds(4);
      assertEquals(0, counter("Suspended"));
      assertEquals(0, counter("Killed"));
      assertEquals(4, big.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void killTakesTheNextRungWhereTheNodeCannotSuspend() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(HiatusConfiguration.MODE, "kill");
      conf.set(hiatus("preemption"), "kill");
    })) {
      fill(cluster, cluster.nodeWithoutSuspension(NODE_MB, 16));
      List<ContainerId> before = big.held();
      cluster.rounds(4);
      assertEquals(1, counter("Killed"));
      assertEquals(1, small.held().size());
      assertEquals("the youngest of it", asList(Collections.max(before)), before.stream()
          .filter(container -> !big.held().contains(container)).collect(Collectors.toList()));
      assertEquals("its job is told that it was preempted", ContainerExitStatus.PREEMPTED,
          big.completed().get(0).getExitStatus());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void killKillsWhereTheNodeCouldSuspendToo() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(HiatusConfiguration.MODE, "kill");
      conf.set(hiatus("preemption"), "kill");
    })) {
      fill(cluster, cluster.node(NODE_MB, 16));
      cluster.rounds(4);
      assertEquals(1, counter("Killed"));
      assertEquals(0, counter("Suspended"));
      assertEquals(1, small.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aNodeKeepsNoMoreSuspendedThanItsRamAndSwapHold() throws Exception {
    for (int swapMb : new int[] {1024, 1023}) {
      try (MockCluster cluster = MockCluster.plain()) {
        fill(cluster, cluster.nodeWithSwap(NODE_MB, 16, swapMb));
        cluster.rounds(4);
        assertEquals("of 1 GB", swapMb / 1024, counter("Suspended"));
        assertEquals(swapMb / 1024, small.held().size());
      }
    }
  }

  @Test
  public void theNodesOfAMixedClusterAreTreatedEachByWhatItCan() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(HiatusConfiguration.MODE, "kill");
      conf.set(hiatus("preemption"), "suspend-or-kill");
    })) {
      FakeNode able = cluster.node(2 * 1024, 16);
      FakeNode unable = cluster.nodeWithoutSuspension(2 * 1024, 16);
      FakeNode masters = cluster.nodeWithoutSuspension(512, 16);
      big = cluster.run("default");
      small = cluster.run("default");
      assertEquals(2, masters.running().size() + able.running().size() + unable.running().size());
      big.ask(12, 512);
      cluster.rounds(3);
      int filled = big.held().size();
      assertTrue("at least six fit beside the masters: " + filled, filled >= 6);
      small.ask(6, 512);
      cluster.rounds(6);
      assertEquals(6, small.held().size());
      assertTrue("some of them were suspended", counter("Suspended") > 0);
      assertTrue("some of them were killed", counter("Killed") > 0);
      assertTrue(unable.told().isEmpty());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aGuaranteeIsRestoredBySuspendingWhatIsAboveItsOwn() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> queues(conf, "root", "default", 50, "other", 50))) {
      node = cluster.node(NODE_MB, 64);
      big = cluster.run("default");
      big.ask(8, 1024);
      cluster.rounds(3);
      assertEquals("idle room is lent", 4, big.held().size());
      small = cluster.run("other");
      small.ask(8, 1024);
      cluster.rounds(6);
      assertEquals("the other queue has its half", 2, small.held().size());
      assertEquals("the first queue keeps its half", 2, counter("Suspended"));
      cluster.rounds(3);
      assertEquals(2, counter("Suspended"));
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aQueueWhosePreemptionIsDisabledKeepsWhatItWasLent() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      queues(conf, "root", "default", 50, "other", 50);
      conf.set(queue("root.default", "disable_preemption"), "true");
    })) {
      node = cluster.node(NODE_MB, 16);
      big = cluster.run("default");
      big.ask(8, 1024);
      cluster.rounds(3);
      small = cluster.run("other");
      small.ask(8, 1024);
      cluster.rounds(6);
      assertEquals(0, counter("Suspended"));
      assertEquals(4, big.held().size());
      assertNull(cluster.difference());
    }
  }
}
