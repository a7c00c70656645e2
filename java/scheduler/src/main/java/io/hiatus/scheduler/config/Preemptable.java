package io.hiatus.scheduler.config;

import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;

/**
 * For whom a queue's containers may be taken, as queues inherit it in CapacityScheduler: {@code disable_preemption} forbids it to
 * all, {@code intra-queue-preemption.disable_preemption} to the queue's own jobs. CapacityScheduler's queues themselves say that
 * nothing may be taken while its preemption is off as a whole, which need not be on for Hiatus.
 */
public final class Preemptable {
  /** What the root inherits. */
  public static final Preemptable ABOVE_ROOT = new Preemptable(true, true);

  /** By other queues. */
  public final boolean byOthers;
  /** For jobs of its own. */
  public final boolean within;
  /** Whether the property for own jobs allows that: it is inherited by itself. */
  private final boolean allowedWithin;

  public Preemptable(boolean byOthers, boolean allowedWithin) {
    this.byOthers = byOthers;
    this.within = byOthers && allowedWithin;
    this.allowedWithin = allowedWithin;
  }

  /** That of the queue at this path, right below the one whose this is. */
  public Preemptable below(String path, CapacitySchedulerConfiguration conf) {
    return new Preemptable(!isSet(QueueProperty.PREEMPTION_DISABLED, path, conf, !byOthers),
        !isSet(QueueProperty.PREEMPTION_WITHIN_DISABLED, path, conf, !allowedWithin));
  }

  /** Not by CapacityScheduler's own methods, which take other arguments in Hadoop 3.5. */
  private static boolean isSet(QueueProperty property, String path, CapacitySchedulerConfiguration conf, boolean byDefault) {
    return conf.getBoolean(CapacitySchedulerConfiguration.PREFIX + path + "." + property.name, byDefault);
  }
}
