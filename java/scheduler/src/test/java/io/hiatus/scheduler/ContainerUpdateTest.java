package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import java.util.Collections;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.UpdateContainerRequest;
import org.junit.Test;

/** Applications that change their own running containers. */
public class ContainerUpdateTest {
  private FakeNode node;
  private FakeApp app;
  private ContainerId one;

  private void twoContainers(MockCluster cluster) throws Exception {
    node = cluster.node(4096, 64);
    app = cluster.run("default");
    app.ask(2, 512);
    cluster.rounds(3);
    one = app.held().get(0);
    assertNull(cluster.difference());
  }

  private UpdateContainerRequest resize(ContainerUpdateType type, int memoryMb) {
    return UpdateContainerRequest.newInstance(app.container(one).getVersion(), one, type,
        Resource.newInstance(memoryMb, 1), null);
  }

  @Test
  public void anIncreaseIsServedAndCounted() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      twoContainers(cluster);
      app.update(resize(ContainerUpdateType.INCREASE_RESOURCE, 1024));
      cluster.rounds(3);
      assertEquals(1024, cluster.container(one).getAllocatedResource().getMemorySize());
      assertNull(cluster.difference());
      app.ask(8, 512);
      cluster.rounds(3);
      assertEquals("4096 − 256 − 1024 − 512 leave room for four", 6, app.held().size());
      app.finish(one);
      cluster.rounds(2);
      assertEquals(7, app.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void anIncreaseThatFindsNoRoomYetWaitsForIt() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      twoContainers(cluster);
      app.ask(5, 512);
      cluster.rounds(3);
      assertEquals(7, app.held().size());
      app.update(resize(ContainerUpdateType.INCREASE_RESOURCE, 1024));
      cluster.rounds(3);
      assertEquals(512, cluster.container(one).getAllocatedResource().getMemorySize());
      assertNull(cluster.difference());
      app.finish(app.held().get(6));
      cluster.rounds(3);
      assertEquals(1024, cluster.container(one).getAllocatedResource().getMemorySize());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aDecreaseIsCounted() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      twoContainers(cluster);
      app.update(resize(ContainerUpdateType.DECREASE_RESOURCE, 256));
      cluster.rounds(3);
      assertEquals(256, cluster.container(one).getAllocatedResource().getMemorySize());
      assertNull(cluster.difference());
      app.finish(one);
      cluster.rounds(2);
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aPromotionThatTheApplicationAsksForItselfComesOnce() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      node = cluster.node(2 * 256 + 4 * 1024, 64);
      app = cluster.run("default");
      FakeApp small = cluster.run("default");
      app.ask(4, 1024);
      cluster.rounds(5);
      small.ask(1, 1024);
      cluster.rounds(4);
      one = Collections.max(app.held());
      assertEquals(ExecutionType.OPPORTUNISTIC, cluster.container(one).getExecutionType());
      app.update(UpdateContainerRequest.newInstance(cluster.container(one).getContainer().getVersion(), one,
          ContainerUpdateType.PROMOTE_EXECUTION_TYPE, null, ExecutionType.GUARANTEED));
      cluster.rounds(2);
      assertEquals("there is no room for it", ExecutionType.OPPORTUNISTIC, cluster.container(one).getExecutionType());
      assertNull(cluster.difference());
      small.finish(small.held().get(0));
      cluster.rounds(3);
      assertEquals(ExecutionType.GUARANTEED, cluster.container(one).getExecutionType());
      assertEquals(4, app.held().size());
      assertEquals(2 * 256 + 4 * 1024, cluster.schedulerNode(node).getAllocatedResource().getMemorySize());
      assertNull(cluster.difference());
    }
  }
}
