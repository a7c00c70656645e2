package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSet;

/**
 * CapacityScheduler that asks before it places anything, at heartbeats or in threads of its own, on one node or on many: one
 * gate, and behind it CapacityScheduler's own code as it is configured. It stands in this package because the one method
 * that all its placing passes is visible here alone.
 */
public abstract class YieldingCapacityScheduler extends CapacityScheduler {
  /**
   * Whether it may place on these nodes now. From a heartbeat with the write lock held, from a thread of asynchronous
   * scheduling without it; must not throw.
   */
  protected abstract boolean mayPlace(CandidateNodeSet<FiCaSchedulerNode> on);

  @Override
  CSAssignment allocateContainersToNode(CandidateNodeSet<FiCaSchedulerNode> candidates, boolean withNodeHeartbeat) {
    return mayPlace(candidates) ? super.allocateContainersToNode(candidates, withNodeHeartbeat) : null;
  }
}
