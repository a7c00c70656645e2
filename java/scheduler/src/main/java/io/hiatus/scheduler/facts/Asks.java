package io.hiatus.scheduler.facts;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AppSchedulingInfo;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.PendingAsk;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.AppPlacementAllocator;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.LocalityAppPlacementAllocator;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;

/**
 * What an attempt asks for, as the core counts it: so many containers of each phase. The increase of a running container, or
 * a promotion of its own, wants room like any other ask.
 */
final class Asks {
  /** Memory and vcores, the first in every Resource. */
  private static final int KNOWN_RESOURCES = 2;

  private Asks() {
  }

  /** {@code isOurs} tells the demoted containers that are Hiatus's to promote: their promotions are no asks. */
  static Map<Phase, Wanted> of(FiCaSchedulerApp attempt, Predicate<ContainerId> isOurs) {
    AppSchedulingInfo info = attempt.getAppSchedulingInfo();
    Map<Phase, Wanted> wanted = new HashMap<>();
    for (SchedulerRequestKey key : info.getSchedulerKeys()) {
      AppPlacementAllocator<?> placement = info.getAppPlacementAllocator(key);
      PendingAsk ask = info.getPendingAsk(key, ResourceRequest.ANY);
      boolean oursToPromote = key.getContainerToUpdate() != null && isOurs.test(key.getContainerToUpdate());
      if (!oursToPromote && placement != null && ask.getCount() > 0) {
        Phase phase = new Phase(key.getPriority().getPriority(), placement.getPrimaryRequestedNodePartition(),
            ask.getPerAllocationResource());
        wanted.merge(phase, new Wanted(ask.getCount(), places(key, placement, ask)), Wanted::and);
      }
    }
    return wanted;
  }

  /** What has constraints, or names hosts or racks, asks for places. */
  private static Places places(SchedulerRequestKey key, AppPlacementAllocator<?> placement, PendingAsk ask) {
    boolean wantsMore = Arrays.stream(ask.getPerAllocationResource().getResources()).skip(KNOWN_RESOURCES)
        .anyMatch(other -> other.getValue() > 0);
    boolean onlyThere = !placement.canDelayTo(ResourceRequest.ANY) || key.getContainerToUpdate() != null;
    if (wantsMore || onlyThere) {
      return Places.UNJUDGED;
    }
    return placement instanceof LocalityAppPlacementAllocator && placement.getUniqueLocationAsks() <= 1 ? Places.ANYWHERE
        : Places.NAMED;
  }

  /** Where, in the core's words and order. */
  enum Places {
    /** At hosts or racks, or elsewhere in the end. */
    NAMED,
    /** On any node as well as on any other. */
    ANYWHERE,
    /** Where something is of which the core knows nothing: another resource, or that host or container and no other. */
    UNJUDGED
  }

  /** How many containers of a phase, and where. */
  static final class Wanted {
    final int count;
    final Places places;

    private Wanted(int count, Places places) {
      this.count = count;
      this.places = places;
    }

    private Wanted and(Wanted other) {
      return new Wanted((int) Math.min(Integer.MAX_VALUE, (long) count + other.count),
          places == other.places ? places : Places.NAMED); // some of them can be judged, and not all may be anywhere
    }
  }

  /** What the core calls a phase of an application; of sizes it knows memory and vcores, so asks that differ in others are one. */
  static final class Phase {
    final int priority;
    final String partition;
    final Resource size;

    private Phase(int priority, String partition, Resource size) {
      this.priority = priority;
      this.partition = Objects.toString(partition, "");
      this.size = size;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Phase && ((Phase) other).priority == priority
          && ((Phase) other).partition.equals(partition) && ((Phase) other).size.getMemorySize() == size.getMemorySize()
          && ((Phase) other).size.getVirtualCores() == size.getVirtualCores();
    }

    @Override
    public int hashCode() {
      return Objects.hash(priority, partition, size.getMemorySize(), size.getVirtualCores());
    }
  }
}
