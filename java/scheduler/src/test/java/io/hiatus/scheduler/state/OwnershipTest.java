package io.hiatus.scheduler.state;

import static io.hiatus.scheduler.MockCluster.counter;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.FakeNode;
import io.hiatus.scheduler.MockCluster;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.Test;

/** Applications with opportunistic containers of their own: Hiatus promotes what it demoted itself, and leaves the rest alone. */
public class OwnershipTest {
  private static final int NODE_MB = 2 * 256 + 4 * 1024;

  private FakeNode node;
  private FakeApp app;

  private static MockCluster cluster() throws Exception {
    return MockCluster.with(conf -> conf.setBoolean(YarnConfiguration.OPPORTUNISTIC_CONTAINER_ALLOCATION_ENABLED, true));
  }

  private void begin(MockCluster cluster) throws Exception {
    node = cluster.node(NODE_MB, 64);
    app = cluster.run("default");
    app.withOpportunisticMeans();
  }

  private static ExecutionType type(MockCluster cluster, ContainerId container) {
    return cluster.container(container).getExecutionType();
  }

  private static List<ContainerId> updated(AllocateResponse response) {
    return response.getUpdatedContainers().stream().map(update -> update.getContainer().getId()).collect(Collectors.toList());
  }

  @Test
  public void anOpportunisticContainerIsItsApplicationsOwn() throws Exception {
    try (MockCluster cluster = cluster()) {
      begin(cluster);
      ContainerId own = app.takeOpportunistic(node, 1024).getId();
      assertNull(cluster.difference());
      cluster.rounds(4);
      assertNull(cluster.difference());
      assertEquals("though there is room", ExecutionType.OPPORTUNISTIC, type(cluster, own));
      assertEquals(0, cluster.scheduler().demotions().count());

      cluster.restart();
      cluster.reregisterMasters();
      app.withOpportunisticMeans();
      cluster.rounds(4);
      assertEquals("nor after a restart", ExecutionType.OPPORTUNISTIC, type(cluster, own));
      assertEquals(0, cluster.scheduler().demotions().count());
      assertNull(cluster.difference());

      app.finish(own);
      cluster.rounds(2);
      assertNull(cluster.container(own));
      assertNull(cluster.difference());
    }
  }

  @Test
  public void itRunsOnThoughItsApplicationIsParkedAndTheResourceManagerRestarts() throws Exception {
    try (MockCluster cluster = cluster()) {
      begin(cluster);
      ContainerId own = app.takeOpportunistic(node, 1024).getId();
      cluster.scheduler().operatorService().park(app.id(), true);
      cluster.restart();
      cluster.reregisterMasters();
      cluster.rounds(2);
      assertTrue(cluster.scheduler().parking().isParked(app.id()));
      assertFalse(node.told().contains("hold " + own));
    }
  }

  @Test
  public void aPromotionOfItsOwnWantsRoomAndIsToldToTheApplication() throws Exception {
    try (MockCluster cluster = cluster()) {
      begin(cluster);
      ContainerId own = app.takeOpportunistic(node, 1024).getId();
      cluster.rounds(2);
      app.change(own, ContainerUpdateType.PROMOTE_EXECUTION_TYPE);
      cluster.beat();
      cluster.beat();
      assertEquals(Collections.singletonList(own), updated(app.call()));
      assertEquals(ExecutionType.GUARANTEED, type(cluster, own));
      assertNull("now it counts", cluster.difference());
      assertEquals("it is none of ours", 0, counter("Resumed"));
      assertEquals("the application tells the node itself, as configured", 0, node.told().size());
    }
  }

  @Test
  public void aDemotionOfItsOwnIsNotTakenBack() throws Exception {
    try (MockCluster cluster = cluster()) {
      begin(cluster);
      app.ask(2, 1024);
      cluster.rounds(3);
      ContainerId one = app.held().get(0);
      assertEquals(Collections.singletonList(one), updated(app.change(one, ContainerUpdateType.DEMOTE_EXECUTION_TYPE)));
      cluster.rounds(4);
      assertEquals(ExecutionType.OPPORTUNISTIC, type(cluster, one));
      assertNull(cluster.difference());
      assertEquals(0, counter("Suspended"));
    }
  }

  @Test
  public void whatTheApplicationChangedIsToldThoughAChangeOfOursComesBetween() throws Exception {
    try (MockCluster cluster = cluster()) {
      begin(cluster);
      app.ask(2, 1024);
      cluster.rounds(3);
      ContainerId parked = app.held().get(0);
      ContainerId own = app.takeOpportunistic(node, 1024).getId();
      cluster.rounds(1);
      app.change(own, ContainerUpdateType.PROMOTE_EXECUTION_TYPE);
      cluster.beat(); // the promotion gets room
      cluster.scheduler().operatorService().park(parked, true);
      MockCluster.until("it is suspended", () -> {
        cluster.beat();
        return counter("Suspended") == 1;
      });
      assertEquals(Collections.singletonList(own), updated(app.call()));
      cluster.rounds(2);
      assertEquals("demote " + parked, node.told().get(0));
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aRestartedResourceManagerKnowsWhatHiatusDemotedFromWhatIsTheApplications() throws Exception {
    try (MockCluster cluster = cluster()) {
      begin(cluster);
      FakeApp small = cluster.run("default");
      app.ask(4, 1024);
      cluster.rounds(5);
      ContainerId own = app.takeOpportunistic(node, 1024).getId();
      small.ask(1, 1024);
      cluster.rounds(4);
      ContainerId ours = app.held().stream().filter(id -> !id.equals(own) && node.isDemoted(id)).findAny().get();
      MockCluster.until("it is saved", () -> cluster.rm().getRMStateStore().loadState().getApplicationState().get(app.id())
          .getApplicationSubmissionContext().getApplicationSchedulingPropertiesMap().toString().contains(ours.toString()));

      cluster.restart();
      assertEquals(1, cluster.scheduler().demotions().count());
      assertTrue(cluster.scheduler().demotions().isOurs(ours));
      assertFalse(cluster.scheduler().demotions().isOurs(own));
      cluster.reregisterMasters();
      app.withOpportunisticMeans();
      small.finish(small.held().get(0));
      cluster.rounds(3);
      assertEquals(ExecutionType.GUARANTEED, type(cluster, ours));
      assertEquals(ExecutionType.OPPORTUNISTIC, type(cluster, own));
      assertEquals(0, cluster.scheduler().demotions().count());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void whatIsWaitingIsSavedBeforeAnOrderlyEnd() throws Exception {
    try (MockCluster cluster = cluster()) {
      begin(cluster);
      AppSaver saver = new AppSaver(cluster.context());
      AppProperties.put(cluster.context(), app.id(), "hiatus.demoted", Collections.singleton("container"));
      saver.changed(app.id());
      saver.end();
      saver.run(); // by this thread, and to its end
      assertEquals("{hiatus.demoted=container}", cluster.rm().getRMStateStore().loadState().getApplicationState().get(app.id())
          .getApplicationSubmissionContext().getApplicationSchedulingPropertiesMap().toString());
    }
  }

  @Test
  public void whereNobodyElseDemotesAnAttemptHasNoMeansOfItsOwnBeforeOrAfter() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      node = cluster.node(NODE_MB, 64);
      app = cluster.run("default");
      FakeApp small = cluster.run("default");
      app.ask(4, 1024);
      cluster.rounds(5);
      small.ask(1, 1024);
      cluster.rounds(4);
      assertEquals(1, counter("Suspended"));
      assertNull(cluster.attempt(app).getOpportunisticContainerContext());
      small.finish(small.held().get(0));
      cluster.rounds(3);
      assertEquals(1, counter("Resumed"));
      assertNull(cluster.attempt(app).getOpportunisticContainerContext());
    }
  }
}
