package io.hiatus.scheduler.apply;

import io.hiatus.scheduler.cluster.Containers;
import io.hiatus.scheduler.facts.CoreFeed;
import io.hiatus.scheduler.facts.FactWriter;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.SchedulerContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/** Stands around CapacityScheduler's commits, whoever proposed them: completes promotions, and tells the core of new containers. */
public final class CommitObserver {
  private final CoreFeed feed;
  private final ContainerControl control;

  public CommitObserver(CoreFeed feed, ContainerControl control) {
    this.feed = feed;
    this.control = control;
  }

  /** Has {@code commit} commit that, and returns what it returns. */
  public boolean commit(ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request, BooleanSupplier commit) {
    boolean[] forMaster = new boolean[1];
    feed.tell(facts -> forMaster[0] = allocates(request) && allocated(request).getSchedulerApplicationAttempt().isWaitingForAMContainer());
    boolean promotesOurs = control.promotesOurs(request);
    if (promotesOurs) {
      feed.guard(() -> control.settle(allocated(request).getSchedulerApplicationAttempt()));
    }
    boolean committed = commit.getAsBoolean();
    if (committed && promotesOurs) {
      feed.guard(() -> control.completePromotions(allocated(request).getSchedulerApplicationAttempt()));
    }
    if (committed) {
      feed.tell(facts -> {
        if (allocates(request)) {
          tell(facts, allocated(request).getRmContainer(), forMaster[0]);
        }
      });
    }
    return committed;
  }

  private static void tell(FactWriter facts, RMContainer container, boolean forMaster) {
    if (Containers.isUpdatePlaceholder(container)) {
      facts.asksChanged(container.getApplicationAttemptId().getApplicationId());
    } else {
      facts.container(container, forMaster);
    }
  }

  private static boolean allocates(ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    return !request.getContainersToAllocate().isEmpty();
  }

  private static SchedulerContainer<FiCaSchedulerApp, FiCaSchedulerNode> allocated(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    return request.getFirstAllocatedOrReservedContainer().getAllocatedOrReservedContainer();
  }
}
