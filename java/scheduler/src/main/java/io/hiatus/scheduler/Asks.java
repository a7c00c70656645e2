package io.hiatus.scheduler;

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
        wanted.merge(phase, new Wanted(ask.getCount(), namesNoPlaces(placement)), Wanted::and);
      }
    }
    return wanted;
  }

  /** Whether it wants nothing but so many containers: what has constraints, or names hosts or racks, asks for places. */
  private static boolean namesNoPlaces(AppPlacementAllocator<?> placement) {
    return placement instanceof LocalityAppPlacementAllocator && placement.getUniqueLocationAsks() <= 1;
  }

  /** How many containers of a phase, and whether any node is as good as any other for all of them. */
  static final class Wanted {
    final int count;
    final boolean anywhere;

    private Wanted(int count, boolean anywhere) {
      this.count = count;
      this.anywhere = anywhere;
    }

    private Wanted and(Wanted other) {
      return new Wanted(count + other.count, anywhere && other.anywhere);
    }
  }

  /** What the core calls a phase of an application. */
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
          && ((Phase) other).partition.equals(partition) && ((Phase) other).size.equals(size);
    }

    @Override
    public int hashCode() {
      return Objects.hash(priority, partition, size);
    }
  }
}
