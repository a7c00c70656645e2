package io.hiatus.scheduler.facts;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;

import io.hiatus.scheduler.FakeNode;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.bridge.FactBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAddedSchedulerEvent;
import org.junit.Test;

/** What is told of an event, how much of it, and in which order. */
public class TellingTest {
  private static final int NODE = 1;
  private static final int HEARTBEAT = 3;
  private static final int QUEUE = 4;
  private static final int APP = 7;
  private static final int ACTIVE = 9;

  /** Kinds of the records that wait for the next step, which then does not see them. */
  private static List<Integer> taken(MockCluster cluster) {
    FactBuffer news = cluster.facts().take();
    ByteBuffer bytes = news.bytes();
    List<Integer> kinds = new ArrayList<>();
    for (int at = 0; at < news.length(); at += bytes.getInt(at + 4)) {
      kinds.add(bytes.getInt(at));
    }
    return kinds;
  }

  private static long count(List<Integer> kinds, int kind) {
    return kinds.stream().filter(one -> one == kind).count();
  }

  @Test
  public void aJoiningNodeTellsOfItselfAndOfNoOther() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      for (int i = 0; i < 20; i++) {
        cluster.node(1024, 1);
      }
      FakeNode late = new FakeNode(cluster.freshHost(), 1024, 1, true);
      assertNull(cluster.difference());
      late.register(cluster.rm().getResourceTrackerService());
      cluster.settle();
      // At first without its attributes, of which the ResourceManager hears later.
      long told = count(taken(cluster), NODE);
      assertTrue(told + " nodes", told > 0 && told <= 2);
    }
  }

  @Test
  public void aQueueIsToldBeforeItsApplicationsAndTheseBeforeTheyMayRun() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(1024, 1);
      assertNull(cluster.difference());
      cluster.refresh(conf -> MockCluster.queues(conf, "root", "default", 40, "fresh", 60));
      cluster.submit("fresh", "user");
      cluster.scheduler().locked(() -> {
        cluster.scheduler().teller().changes(cluster.facts());
        return null;
      });
      List<Integer> kinds = taken(cluster);
      assertTrue(kinds.toString(), kinds.indexOf(QUEUE) >= 0 && kinds.indexOf(QUEUE) < kinds.indexOf(APP));
      assertTrue(kinds.toString(), kinds.indexOf(APP) < kinds.indexOf(ACTIVE));
    }
  }

  @Test
  public void heartbeatsDoNotPileUpBeforeTheSchedulerIsReady() throws Exception {
    try (MockCluster cluster = MockCluster.with(
        conf -> conf.setLong(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_SCHEDULING_WAIT_MS, 3_600_000))) {
      FakeNode node = cluster.node(1024, 1);
      cluster.submit("default", "user");
      cluster.restart();
      assertFalse(cluster.scheduler().isReady());
      for (int i = 0; i < 20; i++) {
        node.beat();
        cluster.settle();
      }
      List<Integer> kinds = taken(cluster);
      assertTrue("what there is is told", count(kinds, NODE) > 0 && count(kinds, APP) == 1);
      assertEquals(0, count(kinds, HEARTBEAT));
    }
  }

  @Test
  public void anApplicationWithoutASubmissionContextDoesNoHarm() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      ApplicationId id = ApplicationId.newInstance(1, 1);
      cluster.context().getRMApps().put(id, mock(RMApp.class));
      cluster.scheduler().handle(new AppAddedSchedulerEvent(id, "default", "user"));
      assertNotNull(cluster.facts().apps.of(id));
    }
  }
}
