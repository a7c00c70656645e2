package io.hiatus.scheduler.cluster;

import java.io.IOException;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceLimits;

/** What CapacityScheduler knows of node label partitions. */
public final class Partitions {
  private Partitions() {
  }

  /** All that a partition's nodes offer: the outermost limit. */
  public static ResourceLimits limits(ClusterView cluster, String partition) {
    return new ResourceLimits(cluster.getRMContext().getNodeLabelManager().getResourceByLabel(partition,
        cluster.getClusterResource()));
  }

  /** Whether idle room of a labelled partition may serve asks of the default one. */
  public static boolean isShareable(ClusterView cluster, String partition) {
    try {
      return !partition.equals(RMNodeLabelsManager.NO_LABEL)
          && !cluster.getRMContext().getNodeLabelManager().isExclusiveNodeLabel(partition);
    } catch (IOException e) {
      // The label is gone; its nodes will be told to have another soon.
      return false;
    }
  }
}
