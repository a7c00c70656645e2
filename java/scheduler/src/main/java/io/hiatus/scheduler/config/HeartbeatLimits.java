package io.hiatus.scheduler.config;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** CapacityScheduler's limits of what it starts at one heartbeat of a node: while Hiatus places, whatever has room starts at once. */
public final class HeartbeatLimits {
  private static final Logger LOG = LoggerFactory.getLogger(HeartbeatLimits.class);

  private HeartbeatLimits() {
  }

  /** Those that are set to another value than what they are by themselves. */
  public static List<String> set(Configuration conf) {
    List<String> set = new ArrayList<>();
    addIfSet(set, conf, CapacitySchedulerConfiguration.ASSIGN_MULTIPLE_ENABLED,
        Boolean.toString(CapacitySchedulerConfiguration.DEFAULT_ASSIGN_MULTIPLE_ENABLED));
    addIfSet(set, conf, CapacitySchedulerConfiguration.MAX_ASSIGN_PER_HEARTBEAT,
        Integer.toString(CapacitySchedulerConfiguration.DEFAULT_MAX_ASSIGN_PER_HEARTBEAT));
    addIfSet(set, conf, CapacitySchedulerConfiguration.OFFSWITCH_PER_HEARTBEAT_LIMIT,
        Integer.toString(CapacitySchedulerConfiguration.DEFAULT_OFFSWITCH_PER_HEARTBEAT_LIMIT));
    return set;
  }

  private static void addIfSet(List<String> set, Configuration conf, String key, String byDefault) {
    if (!conf.getTrimmed(key, byDefault).equals(byDefault)) {
      set.add(key);
    }
  }

  /** Another configuration is in force, or other hands place. */
  public static void tell(Configuration conf, boolean hiatusPlaces) {
    if (hiatusPlaces) {
      set(conf).forEach(key -> LOG.warn("HIATUS: {} = {} does nothing while Hiatus places: whatever has room starts at once", key,
          conf.get(key)));
    }
  }
}
