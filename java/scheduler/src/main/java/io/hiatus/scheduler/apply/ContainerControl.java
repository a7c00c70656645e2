package io.hiatus.scheduler.apply;

import io.hiatus.scheduler.bridge.Rejection;
import io.hiatus.scheduler.cluster.ClusterAccess;
import io.hiatus.scheduler.cluster.Partitions;
import io.hiatus.scheduler.facts.CoreFeed;
import io.hiatus.scheduler.facts.Exit;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import io.hiatus.scheduler.state.Demotions;
import io.hiatus.scheduler.state.Parking;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.UpdateContainerRequest;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerImpl;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeUpdateContainerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.NodeType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerUtils;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.SchedulingMode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ContainerAllocationProposal;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.SchedulerContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.scheduler.OpportunisticContainerAllocator.ContainerIdGenerator;
import org.apache.hadoop.yarn.server.scheduler.OpportunisticContainerContext;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * Demotes, promotes and kills containers with CapacityScheduler's own means, which check each change against their limits. What
 * applications change themselves goes its own way beside it. Under the scheduler's write lock.
 */
public final class ContainerControl {
  /** Changes that an application asked for, and that are done, but that it has not been told of. */
  private static final class Owed {
    final List<Container> promoted = new ArrayList<>();
    final List<Container> demoted = new ArrayList<>();
  }

  private final ClusterAccess cluster;
  private final Demotions demotions;
  private final Parking parking;
  private final HiatusMetrics metrics;
  private final CoreFeed feed;
  private final Map<FiCaSchedulerApp, Owed> owed = Collections.synchronizedMap(new WeakHashMap<>());
  /** Who carries out a change of ours at this moment. */
  private volatile Thread changing;

  public ContainerControl(ClusterAccess cluster, Demotions demotions, Parking parking, HiatusMetrics metrics, CoreFeed feed) {
    this.cluster = cluster;
    this.demotions = demotions;
    this.parking = parking;
    this.metrics = metrics;
    this.feed = feed;
  }

  /** Whether a change that this thread carries out goes to the node without the application's help, whatever is configured. */
  public boolean updatesNodes() {
    return changing == Thread.currentThread();
  }

  /** Demotes a running container; returns why not, or null. */
  Rejection demote(FiCaSchedulerApp attempt, RMContainer container) {
    if (container.isAMContainer() || container.getState() != RMContainerState.RUNNING
        || container.getExecutionType() != ExecutionType.GUARANTEED || !mayChange(attempt)) {
      return Rejection.GONE;
    }
    settle(attempt);
    ContainerUpdates updates = new ContainerUpdates();
    updates.getDemotionRequests().add(update(container, ContainerUpdateType.DEMOTE_EXECUTION_TYPE));
    // At once, so that the node hears of it with its next heartbeat, and not when the application next calls.
    List<Container> demoted = changing(attempt, () -> {
      cluster.update(attempt, updates);
      return attempt.pullNewlyDemotedContainers();
    });
    if (demoted.stream().map(Container::getId).noneMatch(container.getContainerId()::equals)) {
      return Rejection.GONE;
    }
    metrics.suspended(attempt);
    demotions.demoted(container);
    return null;
  }

  /**
   * Promotes a container where it is; returns why not, or null. A promotion is an ask of the application for that node, of
   * lower rank than all its other asks: allocating it here and now keeps the room from going to those.
   */
  Rejection promote(FiCaSchedulerApp attempt, RMContainer container) {
    FiCaSchedulerNode node = cluster.getNode(container.getAllocatedNode());
    if (node == null || container.getExecutionType() != ExecutionType.OPPORTUNISTIC || !mayChange(attempt)) {
      return Rejection.GONE;
    }
    if (!Resources.fitsIn(cluster.getResourceCalculator(), container.getAllocatedResource(),
        node.getUnallocatedResource())) {
      return Rejection.ROOM;
    }
    SchedulerRequestKey key = askForPromotion(attempt, container);
    // Committing takes this back; where an allocator makes the proposal, it has added it.
    attempt.incUnconfirmedRes(container.getAllocatedResource());
    ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request = promotion(attempt, node, container, key);
    boolean leaves = node.getRMNode().getState() == NodeState.DECOMMISSIONING;
    if (!(leaves ? commitOnLeavingNode(attempt, request) : cluster.commit(attempt, request))) {
      return Rejection.LIMIT;
    }
    return container.getExecutionType() == ExecutionType.GUARANTEED ? null : Rejection.GONE;
  }

  /**
   * CapacityScheduler accepts nothing on a node that is being decommissioned, for it knows of new containers only. What goes on
   * there is none; its queues' limits are checked as ever. The node is not told, since YARN tells it nothing but what to end: it
   * continues by itself what has room, and its room is, in that state, what counts there.
   */
  private boolean commitOnLeavingNode(FiCaSchedulerApp attempt, ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    settle(attempt);
    try {
      boolean committed = ((CSQueue) attempt.getQueue()).accept(cluster.getClusterResource(), request)
          && attempt.apply(cluster.getClusterResource(), request, true);
      if (committed) {
        withMeans(attempt, attempt::pullNewlyPromotedContainers).forEach(promoted -> promoted(attempt, promoted.getId()));
      }
      return committed;
    } finally {
      attempt.decUnconfirmedRes(request.getTotalAllocatedResource());
    }
  }

  /** Kills a container as a preempted one. */
  Rejection kill(FiCaSchedulerApp attempt, RMContainer container) {
    if (container.isAMContainer()) {
      return Rejection.GONE;
    }
    // Not marked for preemption before: stock keeps the mark of a demoted container after its end, and the application's
    // next call fails over it. The exit status tells the application that it was preempted.
    cluster.completedContainer(container, SchedulerUtils.createPreemptedContainerStatus(container.getContainerId(),
        SchedulerUtils.PREEMPTED_CONTAINER), RMContainerEventType.KILL);
    metrics.killed(attempt);
    return null;
  }

  /** A container has ended, whoever ended it; null is none. */
  public void ended(RMContainer container, ContainerStatus status) {
    if (container == null) {
      return;
    }
    feed.guard(() -> {
      if (demotions.isOurs(container.getContainerId())) {
        takeBackPromotion(container);
      }
      demotions.forget(container.getContainerId());
    });
    feed.tell(facts -> {
      facts.completed(container.getContainerId(), Exit.of(status.getExitStatus()));
      parking.forget(container.getContainerId());
    });
  }

  /** Whether the request would promote a container that Hiatus demoted, whoever made it of that ask. */
  boolean promotesOurs(ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    if (request.getContainersToAllocate().isEmpty()) {
      return false;
    }
    ContainerId promoted = request.getContainersToAllocate().get(0).getAllocatedOrReservedContainer().getRmContainer()
        .getAllocatedSchedulerKey().getContainerToUpdate();
    return promoted != null && demotions.isOurs(promoted);
  }

  /** Completes promotions of ours that were committed. */
  void completePromotions(FiCaSchedulerApp attempt) {
    changing(attempt, attempt::pullNewlyPromotedContainers).forEach(promoted -> promoted(attempt, promoted.getId()));
  }

  private void promoted(FiCaSchedulerApp attempt, ContainerId id) {
    metrics.resumed(attempt);
    demotions.forget(id);
    feed.tell(facts -> facts.promoted(id));
  }

  /** Completes what the application itself changed, so that nothing of it goes with a change of ours; it is told when it next calls. */
  void settle(FiCaSchedulerApp attempt) {
    List<Container> promoted = attempt.pullNewlyPromotedContainers();
    List<Container> demoted = attempt.pullNewlyDemotedContainers();
    if (!promoted.isEmpty() || !demoted.isEmpty()) {
      owed.compute(attempt, (any, before) -> {
        Owed to = before == null ? new Owed() : before;
        to.promoted.addAll(promoted);
        to.demoted.addAll(demoted);
        return to;
      });
      tellChanged(promoted, demoted);
    }
  }

  /** Adds to what the application is told what it has not been told yet, and tells the core what the application changed. */
  public void finishPendingUpdates(FiCaSchedulerApp attempt, Allocation allocation) {
    if (allocation.getPromotedContainers() == null || allocation.getDemotedContainers() == null) {
      return; // it is over
    }
    // Its call may have come between a promotion of ours and its completion.
    allocation.getPromotedContainers().removeIf(container -> {
      boolean ours = demotions.isOurs(container.getId());
      if (ours) {
        updateNode(container);
        promoted(attempt, container.getId());
      }
      return ours;
    });
    tellChanged(allocation.getPromotedContainers(), allocation.getDemotedContainers());
    Owed to = owed.remove(attempt);
    if (to != null) { // and nobody else has it now
      allocation.getPromotedContainers().addAll(to.promoted);
      allocation.getDemotedContainers().addAll(to.demoted);
    }
  }

  @SuppressWarnings("unchecked") // the dispatcher's handler is not typed
  private void updateNode(Container promoted) {
    cluster.getRMContext().getDispatcher().getEventHandler().handle(new RMNodeUpdateContainerEvent(promoted.getNodeId(),
        Collections.singletonMap(promoted, ContainerUpdateType.PROMOTE_EXECUTION_TYPE)));
  }

  /** To the core a container that its application demotes is over, and one that it promotes begins. */
  private void tellChanged(List<Container> promoted, List<Container> demoted) {
    if (promoted.isEmpty() && demoted.isEmpty()) {
      return;
    }
    feed.tell(facts -> {
      demoted.forEach(container -> facts.completed(container.getId(), Exit.KILLED));
      for (Container container : promoted) {
        RMContainer known = cluster.getRMContainer(container.getId());
        if (known != null) {
          facts.container(known, known.isAMContainer());
        }
      }
    });
  }

  /**
   * Where applications have the means to change execution types, their registration gives them: until an attempt has come back
   * after a restart, nothing is changed for it.
   */
  private boolean mayChange(FiCaSchedulerApp attempt) {
    return !demotions.othersDemote() || attempt.getOpportunisticContainerContext() != null;
  }

  /** Has the nodes told of what {@code work} changes. */
  private <T> T changing(FiCaSchedulerApp attempt, Supplier<T> work) {
    changing = Thread.currentThread();
    try {
      return withMeans(attempt, work);
    } finally {
      changing = null;
    }
  }

  /** Elsewhere an attempt has those means only while Hiatus works with them, so that nothing else is as it were with them. */
  private static <T> T withMeans(FiCaSchedulerApp attempt, Supplier<T> work) {
    attempt.getWriteLock().lock(); // its own call pulls, too
    OpportunisticContainerContext own = attempt.getOpportunisticContainerContext();
    if (own == null) {
      attempt.setOpportunisticContainerContext(context(attempt));
    }
    try {
      return work.get();
    } finally {
      attempt.setOpportunisticContainerContext(own);
      attempt.getWriteLock().unlock();
    }
  }

  private static OpportunisticContainerContext context(FiCaSchedulerApp attempt) {
    OpportunisticContainerContext context = new OpportunisticContainerContext();
    context.setContainerIdGenerator(new ContainerIdGenerator() {
      @Override
      public long generateContainerId() {
        return attempt.getAppSchedulingInfo().getNewContainerId();
      }
    });
    return context;
  }

  /** Makes the promotion an ask of the application, unless it is one already; stock placement could serve it, too. */
  private SchedulerRequestKey askForPromotion(FiCaSchedulerApp attempt, RMContainer container) {
    UpdateContainerRequest request = update(container, ContainerUpdateType.PROMOTE_EXECUTION_TYPE);
    SchedulerRequestKey key = SchedulerRequestKey.create(request, container.getAllocatedSchedulerKey());
    if (attempt.getOutstandingAsksCount(key) == 0) {
      ContainerUpdates updates = new ContainerUpdates();
      updates.getPromotionRequests().add(request);
      cluster.update(attempt, updates);
    }
    return key;
  }

  /**
   * The container is over, and was to be promoted, which a limit forbade: what was asked for that is nobody's any more.
   * CapacityScheduler would go on looking for its room, and give it out in vain.
   */
  private void takeBackPromotion(RMContainer container) {
    FiCaSchedulerApp attempt = cluster.getApplicationAttempt(container.getApplicationAttemptId());
    if (attempt == null) {
      return;
    }
    SchedulerRequestKey key = SchedulerRequestKey.create(update(container, ContainerUpdateType.PROMOTE_EXECUTION_TYPE),
        container.getAllocatedSchedulerKey());
    if (attempt.getOutstandingAsksCount(key) > 0) {
      Map<String, ResourceRequest> none = new HashMap<>();
      attempt.getAppPlacementAllocator(key).getResourceRequests().forEach((place, asked) -> {
        ResourceRequest request = ResourceRequest.clone(asked);
        request.setNumContainers(0);
        none.put(place, request);
      });
      attempt.getAppSchedulingInfo().updateResourceRequests(Collections.singletonMap(key, none), false);
      attempt.getUpdateContext().removeFromOutstandingUpdate(key, container.getContainer());
    }
  }

  private ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> promotion(FiCaSchedulerApp attempt,
      FiCaSchedulerNode node, RMContainer container, SchedulerRequestKey key) {
    ContainerId id = ContainerId.newContainerId(attempt.getApplicationAttemptId(), attempt.getNewContainerId());
    Container counted = Container.newInstance(id, node.getNodeID(), node.getHttpAddress(),
        container.getAllocatedResource(), key.getPriority(), null);
    counted.setExecutionType(ExecutionType.GUARANTEED);
    counted.setAllocationRequestId(key.getAllocationRequestId());
    RMContainer holder = new RMContainerImpl(counted, key, attempt.getApplicationAttemptId(), node.getNodeID(),
        attempt.getUser(), cluster.getRMContext(), node.getPartition());
    ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode> proposal = new ContainerAllocationProposal<>(
        new SchedulerContainer<>(attempt, node, holder, node.getPartition(), true), null, null, NodeType.NODE_LOCAL,
        NodeType.NODE_LOCAL, mode(node, container), container.getAllocatedResource());
    return new ResourceCommitRequest<>(Collections.singletonList(proposal), null, null);
  }

  /** A guest of another partition goes on as it began: its queue need have no part of that one. */
  private SchedulingMode mode(FiCaSchedulerNode node, RMContainer container) {
    boolean atHome = node.getPartition().equals(Objects.toString(container.getNodeLabelExpression(), RMNodeLabelsManager.NO_LABEL));
    return atHome || !Partitions.isShareable(cluster, node.getPartition()) ? SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY
        : SchedulingMode.IGNORE_PARTITION_EXCLUSIVITY;
  }

  private UpdateContainerRequest update(RMContainer container, ContainerUpdateType type) {
    renewVersion(container);
    ExecutionType to = type == ContainerUpdateType.DEMOTE_EXECUTION_TYPE ? ExecutionType.OPPORTUNISTIC
        : ExecutionType.GUARANTEED;
    return UpdateContainerRequest.newInstance(container.getContainer().getVersion(), container.getContainerId(), type,
        null, to);
  }

  /**
   * NodeManagers tell a ResourceManager that comes back the version that a container had when it began, and refuse updates
   * that are not newer than its last. Of a container older than this scheduler that may be any; but none is updated ten times a second.
   */
  private void renewVersion(RMContainer container) {
    long sure = Math.floorDiv(cluster.getStartTime() - container.getCreationTime(), 100L) + 1;
    Container known = container.getContainer();
    if (known.getVersion() < sure) {
      known.setVersion((int) sure);
    }
  }
}
