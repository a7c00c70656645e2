package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.queue;
import static org.junit.Assert.assertEquals;

import com.google.common.collect.ImmutableSet;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeLabel;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;

/** A partition, {@code gpu}, all of which the default queue may use. */
public final class GpuPartition {
  private GpuPartition() { }

  public static void configure(Configuration conf) {
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    conf.set(queue("root", "accessible-node-labels.gpu.capacity"), "100");
    conf.set(queue("root.default", "accessible-node-labels"), "gpu");
    conf.set(queue("root.default", "accessible-node-labels.gpu.capacity"), "100");
  }

  /** A node of 4 GB joins it. */
  public static FakeNode node(MockCluster cluster, boolean exclusive) throws Exception {
    FakeNode node = cluster.node(4096, 64);
    join(cluster, node, exclusive);
    return node;
  }

  /** One that is there joins it. */
  public static void join(MockCluster cluster, FakeNode node, boolean exclusive) throws Exception {
    RMNodeLabelsManager labels = cluster.context().getNodeLabelManager();
    labels.addToCluserNodeLabels(Collections.singletonList(NodeLabel.newInstance("gpu", exclusive)));
    labels.addLabelsToNode(of(node));
    cluster.settle();
    assertEquals("gpu", cluster.schedulerNode(node).getPartition());
  }

  public static void leave(MockCluster cluster, FakeNode node) throws Exception {
    cluster.context().getNodeLabelManager().removeLabelsFromNode(of(node));
  }

  private static Map<NodeId, Set<String>> of(FakeNode node) {
    return Collections.singletonMap(NodeId.newInstance(node.id().getHost(), 0), ImmutableSet.of("gpu"));
  }
}
