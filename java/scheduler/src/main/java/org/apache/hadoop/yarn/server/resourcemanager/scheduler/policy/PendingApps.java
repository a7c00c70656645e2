package org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy;

import java.util.Collection;
import java.util.Comparator;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.ToIntFunction;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/**
 * The applications that wait to be let into a leaf queue: in which order, and which of them, CapacityScheduler looks at. It stands in this
 * package because the set of them is visible here alone. Under the scheduler's write lock, as all who change that set.
 */
public final class PendingApps {
  private final AbstractComparatorOrderingPolicy<FiCaSchedulerApp> policy;

  private PendingApps(AbstractComparatorOrderingPolicy<FiCaSchedulerApp> policy) {
    this.policy = policy;
  }

  /**
   * Those that the policy keeps.
   *
   * @throws IllegalArgumentException if it keeps them otherwise than CapacityScheduler's own does
   */
  public static PendingApps of(OrderingPolicy<FiCaSchedulerApp> policy) {
    if (!(policy instanceof AbstractComparatorOrderingPolicy)) {
      throw new IllegalArgumentException("pending applications are kept by " + policy.getClass().getName());
    }
    return new PendingApps((AbstractComparatorOrderingPolicy<FiCaSchedulerApp>) policy);
  }

  /**
   * From now on they are looked at by {@code rank}, smallest first, which stays the same for each as long as it waits; but recovered ones and
   * those of a higher priority come before others all the same. Of equals who came first is first.
   */
  public void order(ToIntFunction<FiCaSchedulerApp> rank) {
    Comparator<SchedulableEntity> byRank = Comparator.comparingInt(app -> rank.applyAsInt((FiCaSchedulerApp) app));
    keep(new RecoveryComparator().thenComparing(new PriorityComparator()).thenComparing(byRank).thenComparing(policy.comparator),
        policy.schedulableEntities);
  }

  /** From now on they are looked at as CapacityScheduler has it. */
  public void orderAsStock() {
    keep(policy.comparator, policy.schedulableEntities);
  }

  /**
   * Runs something that sees no others of them than these.
   *
   * @return how many it took out
   */
  public int only(Collection<FiCaSchedulerApp> these, Runnable work) {
    ConcurrentSkipListSet<FiCaSchedulerApp> all = policy.schedulableEntities;
    ConcurrentSkipListSet<FiCaSchedulerApp> seen = all.clone();
    seen.retainAll(these);
    ConcurrentSkipListSet<FiCaSchedulerApp> left = seen.clone();
    policy.schedulableEntities = left;
    try {
      work.run();
    } finally {
      policy.schedulableEntities = all;
      seen.removeAll(left);
      all.removeAll(seen);
    }
    return seen.size();
  }

  private void keep(Comparator<? super FiCaSchedulerApp> order, Collection<FiCaSchedulerApp> apps) {
    ConcurrentSkipListSet<FiCaSchedulerApp> ordered = new ConcurrentSkipListSet<>(order);
    ordered.addAll(apps);
    policy.schedulableEntities = ordered;
  }
}
