package io.hiatus.scheduler.apply;

import io.hiatus.scheduler.cluster.ClusterView;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.ContainerPreemptEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * CapacityScheduler's own preemption ({@code yarn.resourcemanager.scheduler.monitor.enable}), which knows nothing of modes,
 * of what queues allow and of suspended containers. Its orders are carried out only while stock places.
 */
public final class PreemptionMonitorGuard {
  private static final Logger LOG = LoggerFactory.getLogger(PreemptionMonitorGuard.class);

  private final ClusterView cluster;
  private final HiatusMetrics metrics;
  private volatile boolean configured;

  public PreemptionMonitorGuard(ClusterView cluster, HiatusMetrics metrics) {
    this.cluster = cluster;
    this.metrics = metrics;
  }

  /** Another configuration is in force, or other hands place. */
  public void configure(Configuration conf, boolean hiatusPlaces) {
    configured = HiatusConfiguration.hasStockPreemption(conf);
    if (configured && hiatusPlaces) {
      LOG.warn("CAPACITYSCHEDULER'S PREEMPTION IS SWITCHED OFF while Hiatus places: it would kill what Hiatus may only suspend, or "
          + "may not touch. {} = true has no effect on it until the mode is off or observe, or Hiatus fails.",
          YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS);
    }
  }

  /**
   * Whether it is an order that is not carried out, which is noted. While Hiatus places that is what CapacityScheduler's preemption
   * orders. What a node orders that its administrator made smaller than what runs there, with a time-out, looks alike and is none;
   * but a node that is being decommissioned is never too full: its total follows, a heartbeat late, what goes on there.
   */
  public boolean refuses(SchedulerEvent event, boolean hiatusPlaces) {
    if (event.getType() != SchedulerEventType.MARK_CONTAINER_FOR_PREEMPTION
        && event.getType() != SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE) {
      return false;
    }
    RMContainer container = ((ContainerPreemptEvent) event).getContainer();
    FiCaSchedulerNode node = cluster.getNode(container.getAllocatedNode());
    boolean tooFull = node != null && node.isOvercommitTimeOutSet()
        && !Resources.fitsIn(cluster.getResourceCalculator(), Resources.none(), node.getUnallocatedResource());
    boolean refused = tooFull ? node.getRMNode().getState() == NodeState.DECOMMISSIONING : hiatusPlaces;
    if (refused) {
      metrics.stockPreemptionsRefused.incr();
      LOG.debug("CapacityScheduler's preemption may not take {} while Hiatus places", container.getContainerId());
    }
    return refused;
  }

  /** In a word, for the explanation. */
  public String state(boolean hiatusPlaces) {
    return !configured ? "not configured" : hiatusPlaces ? "switched off" : "on";
  }
}
