package io.hiatus.scheduler.state;

import io.hiatus.scheduler.cluster.ClusterView;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * What Hiatus demoted counts for no queue and no user until it is promoted. CapacityScheduler forgets that where it carries all of
 * a node's or an application's containers over to other accounts; here those are carried back. Under the scheduler's write lock.
 */
public final class DemotedUsage {
  private final ClusterView cluster;
  private final Demotions demotions;

  public DemotedUsage(ClusterView cluster, Demotions demotions) {
    this.cluster = cluster;
    this.demotions = demotions;
  }

  /** In which partition each is that stands still on those nodes. */
  public Map<ContainerId, String> partitions(Collection<NodeId> nodes) {
    Map<ContainerId, String> partitions = new HashMap<>();
    for (NodeId id : nodes) {
      FiCaSchedulerNode node = cluster.getNode(id);
      if (node != null) {
        demotions.on(id).forEach(container -> partitions.put(container, node.getPartition()));
      }
    }
    return partitions;
  }

  /** Labels changed; before, they were in those partitions. */
  public void relabelled(Map<ContainerId, String> partitions) {
    partitions.forEach((id, before) -> {
      RMContainer container = cluster.getRMContainer(id);
      FiCaSchedulerApp attempt = cluster.getCurrentAttemptForContainer(id);
      FiCaSchedulerNode node = container == null ? null : cluster.getNode(container.getAllocatedNode());
      if (attempt != null && node != null && !node.getPartition().equals(before)) {
        attempt.nodePartitionUpdated(container, node.getPartition(), before);
      }
    });
  }

  /** The application was moved from a queue with those metrics. */
  public void moved(ApplicationId id, QueueMetrics from) {
    FiCaSchedulerApp attempt = cluster.attempt(id);
    if (attempt == null) {
      return;
    }
    QueueMetrics to = attempt.getQueue().getMetrics();
    for (ContainerId one : demotions.of(id)) {
      RMContainer container = attempt.getRMContainer(one);
      if (container != null) {
        String partition = container.getNodeLabelExpression();
        Resource resource = container.getContainer().getResource();
        from.allocateResources(partition, attempt.getUser(), 1, resource, false);
        to.releaseResources(partition, attempt.getUser(), 1, resource);
      }
    }
  }
}
