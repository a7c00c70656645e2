package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.gauge;
import static java.util.Collections.emptyList;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.junit.Test;

/** What dies and comes back: the ResourceManager, nodes, attempts. */
public class RecoveryTest extends OneSuspended {
  @Test
  public void aRestartedResourceManagerKnowsAgainWhatRunsAndWhatIsSuspended() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      int running = node.running().size();

      cluster.restart();
      assertNull(cluster.difference());
      assertEquals(Collections.singletonList(suspended), cluster.facts().suspended());
      assertEquals(ExecutionType.OPPORTUNISTIC, cluster.container(suspended).getExecutionType());
      assertTrue("the master is known as such", cluster.container(big.masterContainer()).isAMContainer());

      cluster.reregisterMasters();
      cluster.rounds(2);
      assertEquals("nothing was lost, nothing runs twice", running, node.running().size());
      assertNull(cluster.difference());

      small.finish(small.held().get(0));
      cluster.rounds(3);
      assertEquals("resumed", ExecutionType.GUARANTEED, cluster.container(suspended).getExecutionType());
      assertFalse(node.isDemoted(suspended));
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aLostNodeTakesItsSuspendedContainersWithIt() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      FakeNode other = cluster.node(NODE_MB, 64);
      cluster.rounds(1);
      List<ContainerId> lost = new ArrayList<>(big.held());
      cluster.lose(node);
      assertNull(cluster.difference());
      assertEquals(emptyList(), cluster.facts().suspended());
      MockCluster.until("the big job's second attempt has its master", () -> {
        cluster.beat();
        return big.app().getCurrentAppAttempt().getMasterContainer() != null
            && big.app().getCurrentAppAttempt().getMasterContainer().getNodeId().equals(other.id());
      });
      for (ContainerId container : lost) {
        assertNull(cluster.container(container));
      }
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aNodeThatComesBackIsOneThatIsNew() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      FakeNode stays = cluster.node(1024, 64);
      big = cluster.run("default");
      assertTrue(stays.running().contains(big.masterContainer()));
      FakeNode goes = cluster.node(2 * 1024, 64);
      big.ask(2, 1024);
      cluster.rounds(3);
      assertEquals(2, goes.running().size());
      cluster.lose(goes);
      assertNull(cluster.difference());

      FakeNode back = new FakeNode(goes.id().getHost(), 2 * 1024, 64, true);
      cluster.join(back);
      big.ask(2, 1024);
      cluster.rounds(3);
      assertEquals(2, back.running().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aDecommissioningNodeGetsNothingMoreAndItsContainersFinish() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      FakeNode stays = cluster.node(1024, 64);
      big = cluster.run("default");
      assertTrue(stays.running().contains(big.masterContainer()));
      FakeNode leaving = cluster.node(4 * 1024, 64);
      big.ask(2, 1024);
      cluster.rounds(3);
      assertEquals(2, leaving.running().size());

      cluster.decommission(leaving);
      big.ask(2, 1024);
      cluster.rounds(4);
      assertEquals("nothing new there", 2, leaving.running().size());
      assertNull(cluster.difference());
      for (ContainerId container : new ArrayList<>(leaving.running())) {
        big.finish(container);
      }
      cluster.rounds(2);
      assertEquals(0, leaving.running().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aResizedNodeIsUsedToItsNewSize() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      node = cluster.node(1024, 64);
      big = cluster.run("default");
      big.ask(4, 512);
      cluster.rounds(3);
      assertEquals(1, big.held().size());
      cluster.resize(node, 2 * 1024);
      cluster.rounds(3);
      assertEquals(3, big.held().size());
      assertNull(cluster.difference());
      cluster.resize(node, 1024);
      cluster.rounds(2);
      big.finish(big.held().get(0));
      cluster.rounds(2);
      assertEquals("nothing new while it holds more than it has", 2, big.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void containersKeptAcrossAttemptsAreKnownToTheNextOne() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      node = cluster.node(NODE_MB, 64);
      big = cluster.started(cluster.submit(cluster.builder("default", "user").withKeepContainers(true)
          .withMaxAppAttempts(2).build()));
      small = cluster.run("default");
      big.ask(4, 1024);
      cluster.rounds(5);
      small.ask(1, 1024);
      cluster.rounds(4);
      List<ContainerId> kept = new ArrayList<>(big.held());
      assertEquals(4, kept.size());
      assertEquals(1, gauge("SuspendedNow"));

      ApplicationAttemptId first = big.app().getCurrentAppAttempt().getAppAttemptId();
      node.finish(big.masterContainer(), 1);
      cluster.beat();
      cluster.rm().waitForState(first, RMAppAttemptState.FAILED);
      cluster.settle();
      assertNull(cluster.difference());

      cluster.started(big);
      assertNotEquals(first, big.app().getCurrentAppAttempt().getAppAttemptId());
      assertNull(cluster.difference());
      assertTrue(node.running().containsAll(kept));
      assertEquals(5, new HashSet<>(cluster.attempt(big).getLiveContainers()).size());

      small.finish(small.held().get(0));
      cluster.rounds(3);
      for (ContainerId container : kept) {
        assertEquals(ExecutionType.GUARANTEED, cluster.container(container).getExecutionType());
      }
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aReleaseBeforeTheFetchIsUnderstood() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      node = cluster.node(NODE_MB, 64);
      big = cluster.run("default");
      big.ask(2, 1024);
      cluster.beat();
      List<ContainerId> unfetched = cluster.liveTasks(big);
      assertEquals(2, unfetched.size());
      big.release(unfetched.get(0));
      assertNull(cluster.difference());
      cluster.rounds(3);
      assertEquals("what was given back before it was fetched is wanted again", 2, cluster.liveTasks(big).size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aFinishedApplicationLeavesNothing() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      small.finish();
      big.finish();
      cluster.rm().waitForState(big.id(), RMAppState.FINISHED);
      cluster.rounds(1);
      assertNull(cluster.difference());
      assertEquals(0, cluster.schedulerNode(node).getAllocatedResource().getMemorySize());
      assertNull(cluster.facts().apps.of(big.id()));
      assertEquals(emptyList(), cluster.facts().suspended());
    }
  }
}
