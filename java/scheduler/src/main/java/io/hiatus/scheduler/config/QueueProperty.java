package io.hiatus.scheduler.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** CapacityScheduler's properties of a queue, by their names behind its path, and who goes by each while Hiatus places. */
public enum QueueProperty {
  QUEUES("queues", By.HIATUS),
  CAPACITY("capacity", By.HIATUS),
  MAXIMUM_CAPACITY("maximum-capacity", By.HIATUS),
  LABELS("accessible-node-labels", By.HIATUS),
  LABEL_CAPACITY("accessible-node-labels.*.capacity", By.HIATUS),
  LABEL_MAXIMUM_CAPACITY("accessible-node-labels.*.maximum-capacity", By.HIATUS),
  USER_LIMIT("minimum-user-limit-percent", By.HIATUS),
  USER_LIMIT_FACTOR("user-limit-factor", By.HIATUS),
  USER_WEIGHT("user-settings.*.weight", By.HIATUS),
  PREEMPTION_DISABLED("disable_preemption", By.HIATUS),
  PREEMPTION_WITHIN_DISABLED("intra-queue-preemption.disable_preemption", By.HIATUS),
  STATE("state", By.STOCK),
  SUBMITTERS("acl_submit_applications", By.STOCK),
  ADMINISTRATORS("acl_administer_queue", By.STOCK),
  PRIORITIES("acl_application_max_priority", By.STOCK),
  DEFAULT_PRIORITY("default-application-priority", By.STOCK),
  MASTERS("maximum-am-resource-percent", By.STOCK),
  LABEL_MASTERS("accessible-node-labels.*.maximum-am-resource-percent", By.STOCK),
  APPLICATIONS("maximum-applications", By.STOCK),
  PARALLEL_APPLICATIONS("max-parallel-apps", By.STOCK),
  ALLOCATION("maximum-allocation", By.STOCK),
  ALLOCATION_MB("maximum-allocation-mb", By.STOCK),
  ALLOCATION_VCORES("maximum-allocation-vcores", By.STOCK),
  DEFAULT_LABEL("default-node-label-expression", By.STOCK),
  LIFETIME("maximum-application-lifetime", By.STOCK),
  DEFAULT_LIFETIME("default-application-lifetime", By.STOCK),
  ZERO_CAPACITY("allow-zero-capacity-sum", By.STOCK),
  CREATION("auto-create-child-queue.*", By.STOCK),
  CREATION_TEMPLATE("leaf-queue-template.*", By.STOCK),
  FLEXIBLE_CREATION("auto-queue-creation-v2.*", By.STOCK),
  RESERVABLE("reservable", By.STOCK),
  RESERVATIONS("reservation-*", By.STOCK),
  RESERVATIONS_SHOWN("show-reservations-as-queues", By.STOCK),
  RESERVED_ON_AVERAGE("average-capacity", By.STOCK),
  RESERVED_AT_ONCE("instantaneous-max-capacity", By.STOCK),
  ORDER("ordering-policy", By.NOBODY),
  ORDER_PARAMETERS("ordering-policy.*", By.NOBODY),
  PRIORITY("priority", By.NOBODY),
  NODE_ORDER("multi-node-sorting.policy", By.NOBODY);

  /** Who goes by a property. */
  enum By {
    /** The core is told what it says, and decides by it; CapacityScheduler's own checks hold beside that. */
    HIATUS("honoured"),
    /** CapacityScheduler alone, before Hiatus is asked or when it is answered. */
    STOCK("inherited"),
    /** Nobody, until stock places. */
    NOBODY("ignored");

    final String word;

    By(String word) {
      this.word = word;
    }
  }

  /** Its name, with {@code *} for what may be anything. */
  public final String name;
  final By by;
  private final Pattern pattern;

  QueueProperty(String name, By by) {
    this.name = name;
    this.by = by;
    pattern = Pattern.compile("(root|root\\..+?)\\." + name.replace(".", "\\.").replace("*", ".+"));
  }

  /** The path of the queue of which a property is, given without CapacityScheduler's prefix; null if it is none of a queue. */
  public static String pathIn(String property) {
    String withKnob = pathBeforeKnob(property);
    return withKnob == null ? pathOfStock(property) : withKnob;
  }

  /**
   * The path of the queue for which a property sets a knob of Hiatus, given likewise; null if it sets none. A queue may be called as what
   * stands between a path and a knob: CapacityScheduler's properties of that one are no knobs of its parent, for none is called alike.
   */
  static String pathBeforeKnob(String property) {
    int knob = property.lastIndexOf(HiatusConfiguration.QUEUE_INFIX);
    String ofStock = knob < 0 ? null : pathOfStock(property);
    return knob < 0 || ofStock != null && ofStock.length() > knob ? null : property.substring(0, knob);
  }

  private static String pathOfStock(String property) {
    String path = null;
    for (QueueProperty known : values()) {
      Matcher found = known.pattern.matcher(property);
      if (found.matches() && (path == null || found.group(1).length() < path.length())) {
        path = found.group(1);
      }
    }
    return path;
  }
}
