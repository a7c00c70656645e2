package io.hiatus.scheduler;

import static org.junit.Assert.assertEquals;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.Test;

/** What may run anywhere spreads over the nodes, as it does under stock; what names places keeps its locality. */
public class SpreadingTest {
  private static final int NODES = 4;

  private static FakeNode[] nodes(MockCluster cluster) throws Exception {
    FakeNode[] nodes = new FakeNode[NODES];
    for (int i = 0; i < NODES; i++) {
      nodes[i] = cluster.node(8 * 1024, 8);
    }
    return nodes;
  }

  /** How many tasks of the application run on each. */
  private static List<Long> on(MockCluster cluster, FakeApp app, FakeNode... nodes) {
    return Arrays.stream(nodes).map(node -> cluster.liveTasks(app).stream()
        .filter(task -> cluster.container(task).getAllocatedNode().equals(node.id())).count()).collect(Collectors.toList());
  }

  private static void untilItHas(MockCluster cluster, FakeApp app, int tasks) throws Exception {
    MockCluster.until(tasks + " tasks run", () -> {
      cluster.rounds(1);
      return cluster.liveTasks(app).size() == tasks;
    });
  }

  @Test
  public void tasksThatMayRunAnywhereRunOnAllNodes() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      FakeNode[] nodes = nodes(cluster);
      FakeApp app = cluster.run("default").ask(2 * NODES, 1024);
      untilItHas(cluster, app, 2 * NODES);
      assertEquals(Arrays.asList(2L, 2L, 2L, 2L), on(cluster, app, nodes));
    }
  }

  @Test
  public void tasksWithAHomeRunThere() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set("yarn.scheduler.capacity.node-locality-delay", "40"))) {
      FakeNode[] nodes = nodes(cluster);
      FakeApp app = cluster.run("default").askBestOn(nodes[2].id().getHost(), NODES, 1024);
      untilItHas(cluster, app, NODES);
      assertEquals(Arrays.asList(0L, 0L, 4L, 0L), on(cluster, app, nodes));
    }
  }
}
