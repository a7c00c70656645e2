package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import io.hiatus.scheduler.hadoop.HadoopApi;
import java.lang.invoke.MethodHandles;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.PendingApps;

/**
 * Has CapacityScheduler let applications into a leaf queue, by its own code and all its limits. It stands in this package because that code is
 * visible here alone.
 */
public final class Doorkeeper {
  private static final Consumer<CSQueue> ACTIVATE_APPLICATIONS = HadoopApi.ofLeaf(MethodHandles.lookup(), "activateApplications");

  private Doorkeeper() {
  }

  /**
   * Those that wait are let in, as far as the limits on ApplicationMasters of the queue and of its users go where the ApplicationMasters of
   * {@code uncounted} hold nothing: the queue's books say so while that is looked at, and are as before then. Under the scheduler's write
   * lock.
   *
   * @return how many were let in
   */
  public static int letIn(CSQueue queue, Collection<FiCaSchedulerApp> waiting, Collection<FiCaSchedulerApp> uncounted) {
    Lock lock = ((AbstractCSQueue) queue).writeLock;
    lock.lock();
    try {
      List<FiCaSchedulerApp> left = uncounted.stream().filter(app -> HadoopApi.user(queue, app.getUser()) != null).collect(Collectors.toList());
      left.forEach(app -> count(queue, app, false));
      try {
        return PendingApps.of(HadoopApi.pendingApplications(queue)).only(waiting, () -> ACTIVATE_APPLICATIONS.accept(queue));
      } finally {
        left.forEach(app -> count(queue, app, true));
      }
    } finally {
      lock.unlock();
    }
  }

  private static void count(CSQueue queue, FiCaSchedulerApp app, boolean counts) {
    String partition = app.getAppAMNodePartitionName();
    Resource master = app.getAMResource(partition);
    UsersManager.User user = HadoopApi.user(queue, app.getUser());
    if (counts) {
      queue.getQueueResourceUsage().incAMUsed(partition, master);
      user.getResourceUsage().incAMUsed(partition, master);
    } else {
      queue.getQueueResourceUsage().decAMUsed(partition, master);
      user.getResourceUsage().decAMUsed(partition, master);
    }
  }
}
