package io.hiatus.scheduler;

import java.io.IOException;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.NodeType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceLimits;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.AbstractLeafQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSAssignment;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.SchedulingMode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.SimpleCandidateNodeSet;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * CapacityScheduler's own placement at a node's heartbeat, for the modes off and observe and as the fallback. Its code
 * for that is reachable only with asynchronous scheduling off, which Hiatus needs on (so that nothing is placed behind
 * its back); these are the same steps through its public methods.
 */
final class StockPlacement {
  private final CapacityScheduler scheduler;

  StockPlacement(CapacityScheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Fulfils a reservation on the node, or gives its room to the queues. The caller holds the write lock. */
  void place(FiCaSchedulerNode node) {
    RMContainer reserved = node.getReservedContainer();
    if (reserved != null) {
      fulfil(node, reserved);
      return;
    }
    int most = scheduler.getConfiguration().getMaxAssignPerHeartbeat();
    boolean several = scheduler.getConfiguration().getAssignMultipleEnabled();
    int offSwitchLimit = scheduler.getConfiguration().getOffSwitchPerHeartbeatLimit();
    int offSwitch = 0;
    for (int assigned = 0; assigned == 0 || (several && (most == -1 || assigned < most)); assigned++) {
      CSAssignment assignment = assign(node);
      boolean gave = Resources.greaterThan(scheduler.getResourceCalculator(), scheduler.getClusterResource(),
          assignment.getResource(), Resources.none());
      if (!gave || assignment.getAssignmentInformation().getNumReservations() > 0) {
        return;
      }
      if (assignment.getType() == NodeType.OFF_SWITCH
          && ++offSwitch >= offSwitchLimit) {
        return;
      }
    }
  }

  private CSAssignment assign(FiCaSchedulerNode node) {
    String partition = node.getPartition();
    CSAssignment assignment = assign(scheduler.getRootQueue(), node, partition,
        SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY);
    boolean gave = Resources.greaterThan(scheduler.getResourceCalculator(), scheduler.getClusterResource(),
        assignment.getResource(), Resources.none());
    if (gave || !isShareable(scheduler, partition)) {
      return assignment;
    }
    return assign(scheduler.getRootQueue(), node, RMNodeLabelsManager.NO_LABEL,
        SchedulingMode.IGNORE_PARTITION_EXCLUSIVITY);
  }

  private void fulfil(FiCaSchedulerNode node, RMContainer reserved) {
    FiCaSchedulerApp attempt = scheduler.getCurrentAttemptForContainer(reserved.getContainerId());
    if (attempt != null) {
      assign((AbstractLeafQueue) attempt.getQueue(), node, RMNodeLabelsManager.NO_LABEL,
          SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY);
    }
  }

  private CSAssignment assign(CSQueue queue, FiCaSchedulerNode node, String limitsOf, SchedulingMode mode) {
    Resource cluster = scheduler.getClusterResource();
    CSAssignment assignment = queue.assignContainers(cluster, new SimpleCandidateNodeSet<>(node),
        limits(scheduler, limitsOf), mode);
    assignment.setSchedulingMode(mode);
    scheduler.submitResourceCommitRequest(cluster, assignment);
    return assignment;
  }

  /** All that a partition's nodes offer: the outermost limit. */
  static ResourceLimits limits(CapacityScheduler scheduler, String partition) {
    return new ResourceLimits(scheduler.getRMContext().getNodeLabelManager().getResourceByLabel(partition,
        scheduler.getClusterResource()));
  }

  /** Whether idle room of a labelled partition may serve asks of the default one. */
  static boolean isShareable(CapacityScheduler scheduler, String partition) {
    try {
      return !partition.equals(RMNodeLabelsManager.NO_LABEL)
          && !scheduler.getRMContext().getNodeLabelManager().isExclusiveNodeLabel(partition);
    } catch (IOException e) {
      // The label is gone; its nodes will be told to have another soon.
      return false;
    }
  }
}
