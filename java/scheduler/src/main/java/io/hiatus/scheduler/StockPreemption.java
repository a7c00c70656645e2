package io.hiatus.scheduler;

import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity.ProportionalCapacityPreemptionPolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * CapacityScheduler's own preemption ({@code yarn.resourcemanager.scheduler.monitor.enable}), which knows nothing of modes,
 * of what queues allow and of suspended containers. Its orders are carried out only while stock places.
 */
final class StockPreemption {
  private static final Logger LOG = LoggerFactory.getLogger(StockPreemption.class);

  private final HiatusMetrics metrics;
  private volatile boolean configured;

  StockPreemption(HiatusMetrics metrics) {
    this.metrics = metrics;
  }

  /** Another configuration is in force, or other hands place. */
  void configure(Configuration conf, boolean hiatusPlaces) {
    configured = isConfigured(conf);
    if (configured && hiatusPlaces) {
      LOG.warn("CAPACITYSCHEDULER'S PREEMPTION IS SWITCHED OFF while Hiatus places: it would kill what Hiatus may only suspend, or "
          + "may not touch. {} = true has no effect on it until the mode is off or observe, or Hiatus fails.",
          YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS);
    }
  }

  /** Whether the administrator has asked for it. */
  static boolean isConfigured(Configuration conf) {
    return conf.getBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, YarnConfiguration.DEFAULT_RM_SCHEDULER_ENABLE_MONITORS)
        && Arrays.asList(conf.getTrimmedStrings(YarnConfiguration.RM_SCHEDULER_MONITOR_POLICIES))
            .contains(ProportionalCapacityPreemptionPolicy.class.getName());
  }

  /** Notes that an order of its was not carried out. */
  void refused(ContainerId container) {
    metrics.stockPreemptionsRefused.incr();
    LOG.debug("CapacityScheduler's preemption may not take {} while Hiatus places", container);
  }

  /** In a word, for the explanation. */
  String state(boolean hiatusPlaces) {
    return !configured ? "not configured" : hiatusPlaces ? "switched off" : "on";
  }
}
