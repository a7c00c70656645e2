package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSet;

/**
 * CapacityScheduler that asks before it places anything, at heartbeats or in threads of its own, on one node or on many: one
 * gate, and behind it CapacityScheduler's own code as it is configured. It stands in this package because the one method
 * that all its placing passes is visible here alone.
 */
public abstract class YieldingCapacityScheduler extends CapacityScheduler {
  private static final long YIELDING_MS = 100;

  /**
   * Whether it may place on these nodes now. From a heartbeat with the write lock held, from a thread of asynchronous
   * scheduling without it; must not throw.
   */
  protected abstract boolean mayPlace(CandidateNodeSet<FiCaSchedulerNode> on);

  /** Whether nothing comes of asking, wherever it is, for now. From any thread; must not throw. */
  protected abstract boolean yields();

  /** How long threads of asynchronous scheduling sleep between their rounds, ms; those that only ask need not ask often. */
  @Override
  long getAsyncScheduleInterval() {
    return yields() ? Math.max(YIELDING_MS, super.getAsyncScheduleInterval()) : super.getAsyncScheduleInterval();
  }

  @Override
  CSAssignment allocateContainersToNode(CandidateNodeSet<FiCaSchedulerNode> candidates, boolean withNodeHeartbeat) {
    return mayPlace(candidates) ? super.allocateContainersToNode(candidates, withNodeHeartbeat) : null;
  }
}
