package io.hiatus.scheduler;

import io.hiatus.scheduler.Facts.Refusal;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.function.Supplier;
import org.apache.commons.lang3.StringUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.UpdateContainerRequest;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerImpl;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.NodeType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerUtils;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSAssignment;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.SchedulingMode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ContainerAllocationProposal;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.SchedulerContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.SimpleCandidateNodeSet;
import org.apache.hadoop.yarn.server.scheduler.OpportunisticContainerAllocator.ContainerIdGenerator;
import org.apache.hadoop.yarn.server.scheduler.OpportunisticContainerContext;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the core's decisions with CapacityScheduler's own means, which check each against their limits, and writes
 * down what became of it. Runs under the scheduler's write lock.
 */
final class Applier {
  private static final Logger LOG = LoggerFactory.getLogger(Applier.class);
  /** So many decisions in a row. */
  private static final int MOST_FAILURES = 20;

  private final HiatusScheduler scheduler;
  private final Facts facts;
  private final HiatusMetrics metrics;
  private int failures;
  private final DecisionLog log;

  Applier(HiatusScheduler scheduler, Facts facts, HiatusMetrics metrics) {
    this.scheduler = scheduler;
    this.facts = facts;
    this.metrics = metrics;
    this.log = new DecisionLog(metrics);
  }

  /**
   * Carries out the decision at {@code at}, or with {@code observeOnly} only says that it was not.
   *
   * @return of how many containers it spoke
   */
  int apply(ByteBuffer answers, int at, boolean observeOnly) {
    int kind = answers.getInt(at);
    if (kind == Records.Assign.KIND) {
      int app = Records.Assign.app(answers, at);
      int node = Records.Assign.node(answers, at);
      int count = Records.Assign.count(answers, at);
      Refusal refusal = observeOnly ? Refusal.OBSERVED : attempted(() -> assign(app, node, count));
      if (refusal != null) {
        facts.assignRefused(app, node, refusal);
        count(refusal);
      }
      return Math.max(1, count);
    }
    int handle = kind == Records.Suspend.KIND ? Records.Suspend.container(answers, at)
        : kind == Records.Resume.KIND ? Records.Resume.container(answers, at) : Records.Kill.container(answers, at);
    Refusal refusal = observeOnly ? Refusal.OBSERVED : attempted(() -> change(kind, handle));
    if (refusal != null) {
      facts.containerRefused(handle, refusal);
      count(refusal);
    }
    return 1;
  }

  /** What CapacityScheduler fails over is refused for now; where it fails over everything, Hiatus is of no use. */
  private Refusal attempted(Supplier<Refusal> decision) {
    try {
      Refusal refusal = decision.get();
      failures = 0;
      return refusal;
    } catch (RuntimeException e) {
      if (++failures >= MOST_FAILURES) {
        throw e;
      }
      LOG.warn("CapacityScheduler failed to carry out a decision ({} in a row); it counts as refused", failures, e);
      return Refusal.ROOM;
    }
  }

  private void count(Refusal refusal) {
    if (refusal == Refusal.OBSERVED) {
      metrics.observed.incr();
    } else if (refusal != Refusal.LOCALITY) {
      metrics.rejected.incr();
    }
  }

  /** Gives up to {@code count} containers; returns why not all, or null. */
  private Refusal assign(int app, int nodeHandle, int count) {
    NodeId nodeId = facts.nodes.thing(nodeHandle);
    ApplicationId appId = facts.apps.thing(app);
    FiCaSchedulerNode node = nodeId == null ? null : scheduler.getNode(nodeId);
    FiCaSchedulerApp attempt = appId == null ? null : scheduler.attempt(appId);
    if (node == null || attempt == null || attempt.isStopped()) {
      return Refusal.GONE;
    }
    for (int i = 0; i < count; i++) {
      Refusal refusal = assignOne(attempt, node);
      if (refusal != null) {
        return refusal;
      }
      metrics.assigned.incr();
    }
    return null;
  }

  private Refusal assignOne(FiCaSchedulerApp attempt, FiCaSchedulerNode node) {
    CSAssignment assignment = assignment(attempt, node, SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY);
    if (isNothing(assignment) && StockPlacement.isShareable(scheduler, node.getPartition())) {
      assignment = assignment(attempt, node, SchedulingMode.IGNORE_PARTITION_EXCLUSIVITY);
    }
    if (isNothing(assignment)) {
      return assignment.getSkippedType() == CSAssignment.SkippedType.QUEUE_LIMIT ? Refusal.LIMIT : Refusal.LOCALITY;
    }
    if (assignment.getAssignmentInformation().getNumReservations() > 0) {
      // It would reserve: keeping room for large asks is the core's, with its claims.
      return Refusal.ROOM;
    }
    ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request =
        scheduler.createResourceCommitRequest(assignment);
    if (request == null || !commit(attempt, request)) {
      return Refusal.LIMIT;
    }
    pullPromoted(attempt);
    return null;
  }

  /** Committing takes back what the proposal added to the unconfirmed, unless it fails half-way. */
  private boolean commit(FiCaSchedulerApp attempt, ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    boolean came = false;
    try {
      boolean committed = scheduler.tryCommit(scheduler.getClusterResource(), request, true);
      came = true;
      return committed;
    } finally {
      if (!came) {
        attempt.decUnconfirmedRes(request.getTotalAllocatedResource());
      }
    }
  }

  private CSAssignment assignment(FiCaSchedulerApp attempt, FiCaSchedulerNode node, SchedulingMode mode) {
    CSAssignment assignment = attempt.assignContainers(scheduler.getClusterResource(),
        new SimpleCandidateNodeSet<>(node), StockPlacement.limits(scheduler, node.getPartition()), mode, null);
    assignment.setSchedulingMode(mode);
    return assignment;
  }

  private boolean isNothing(CSAssignment assignment) {
    return !Resources.greaterThan(scheduler.getResourceCalculator(), scheduler.getClusterResource(),
        assignment.getResource(), Resources.none());
  }

  private Refusal change(int kind, int handle) {
    ContainerId id = facts.containers.thing(handle);
    RMContainer container = id == null ? null : scheduler.getRMContainer(id);
    FiCaSchedulerApp attempt = id == null ? null : scheduler.getCurrentAttemptForContainer(id);
    if (container == null || attempt == null || attempt.isStopped()) {
      return Refusal.GONE;
    }
    String why = why(kind, container);
    String what = kind == Records.Suspend.KIND ? "suspended" : kind == Records.Resume.KIND ? "resumed" : "killed";
    Refusal refusal = kind == Records.Suspend.KIND ? suspend(attempt, container)
        : kind == Records.Resume.KIND ? resume(attempt, container) : kill(container);
    if (refusal == null) {
      log.done(StringUtils.capitalize(what), container, attempt.getUser(), why);
    } else {
      log.refused(what, container, attempt.getUser(), why + ", but refused: " + refusal);
    }
    return refusal;
  }

  /** As far as it is known here; for which job, the core explains. */
  private String why(int kind, RMContainer container) {
    boolean suspended = container.getExecutionType() == ExecutionType.OPPORTUNISTIC;
    switch (kind) {
      case Records.Suspend.KIND:
        return scheduler.parking().isParkedWhollyOrByItself(container.getContainerId()) ? "because it is parked"
            : "for a job with a higher claim";
      case Records.Resume.KIND:
        return "because it has room";
      default:
        return suspended ? "because it was suspended for too long, or in the way" : "for a job with a higher claim";
    }
  }

  private Refusal suspend(FiCaSchedulerApp attempt, RMContainer container) {
    if (container.isAMContainer() || container.getState() != RMContainerState.RUNNING
        || container.getExecutionType() != ExecutionType.GUARANTEED) {
      return Refusal.GONE;
    }
    ensureContext(attempt);
    ContainerUpdates updates = new ContainerUpdates();
    updates.getDemotionRequests().add(update(container, ContainerUpdateType.DEMOTE_EXECUTION_TYPE));
    scheduler.update(attempt, updates);
    // At once, so that the node hears of it with its next heartbeat, and not when the application next calls.
    boolean demoted = attempt.pullNewlyDemotedContainers().stream()
        .map(Container::getId).anyMatch(container.getContainerId()::equals);
    if (!demoted) {
      return Refusal.GONE;
    }
    metrics.suspended.incr();
    facts.demoted(container.getContainerId());
    scheduler.parking().holdIfParked(container);
    return null;
  }

  /**
   * Promotes a container where it is. A promotion is an ask of the application for that node, of lower rank than all its
   * other asks: allocating it here and now keeps the room from going to those.
   */
  private Refusal resume(FiCaSchedulerApp attempt, RMContainer container) {
    FiCaSchedulerNode node = scheduler.getNode(container.getAllocatedNode());
    if (node == null || container.getExecutionType() != ExecutionType.OPPORTUNISTIC) {
      return Refusal.GONE;
    }
    if (!Resources.fitsIn(scheduler.getResourceCalculator(), container.getAllocatedResource(),
        node.getUnallocatedResource())) {
      return Refusal.ROOM;
    }
    SchedulerRequestKey key = askForPromotion(attempt, container);
    // Committing takes this back; where an allocator makes the proposal, it has added it.
    attempt.incUnconfirmedRes(container.getAllocatedResource());
    if (!commit(attempt, promotion(attempt, node, container, key))) {
      return Refusal.LIMIT;
    }
    return pullPromoted(attempt) ? null : Refusal.GONE;
  }

  /** Makes the promotion an ask of the application, unless it is one already; stock placement could serve it, too. */
  SchedulerRequestKey askForPromotion(FiCaSchedulerApp attempt, RMContainer container) {
    ensureContext(attempt);
    UpdateContainerRequest request = update(container, ContainerUpdateType.PROMOTE_EXECUTION_TYPE);
    SchedulerRequestKey key = SchedulerRequestKey.create(request, container.getAllocatedSchedulerKey());
    if (attempt.getOutstandingAsksCount(key) == 0) {
      ContainerUpdates updates = new ContainerUpdates();
      updates.getPromotionRequests().add(request);
      scheduler.update(attempt, updates);
    }
    return key;
  }

  private ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> promotion(FiCaSchedulerApp attempt,
      FiCaSchedulerNode node, RMContainer container, SchedulerRequestKey key) {
    ContainerId id = ContainerId.newContainerId(attempt.getApplicationAttemptId(), attempt.getNewContainerId());
    Container counted = Container.newInstance(id, node.getNodeID(), node.getHttpAddress(),
        container.getAllocatedResource(), key.getPriority(), null);
    counted.setExecutionType(ExecutionType.GUARANTEED);
    counted.setAllocationRequestId(key.getAllocationRequestId());
    RMContainer holder = new RMContainerImpl(counted, key, attempt.getApplicationAttemptId(), node.getNodeID(),
        attempt.getUser(), scheduler.getRMContext(), node.getPartition());
    ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode> proposal = new ContainerAllocationProposal<>(
        new SchedulerContainer<>(attempt, node, holder, node.getPartition(), true), null, null, NodeType.NODE_LOCAL,
        NodeType.NODE_LOCAL, SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY, container.getAllocatedResource());
    return new ResourceCommitRequest<>(Collections.singletonList(proposal), null, null);
  }

  /** Completes promotions that were allocated; true if there were any. */
  private boolean pullPromoted(FiCaSchedulerApp attempt) {
    boolean any = false;
    for (Container promoted : attempt.pullNewlyPromotedContainers()) {
      any = true;
      metrics.resumed.incr();
      facts.promoted(promoted.getId());
    }
    return any;
  }

  private Refusal kill(RMContainer container) {
    if (container.isAMContainer()) {
      return Refusal.GONE;
    }
    // Not marked for preemption before: stock keeps the mark of a demoted container after its end, and the application's
    // next call fails over it. The exit status tells the application that it was preempted.
    scheduler.completedContainer(container, SchedulerUtils.createPreemptedContainerStatus(container.getContainerId(),
        SchedulerUtils.PREEMPTED_CONTAINER), RMContainerEventType.KILL);
    metrics.killed.incr();
    return null;
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
    long sure = (scheduler.getStartTime() - container.getCreationTime()) / 100;
    Container known = container.getContainer();
    if (known.getVersion() < sure) {
      known.setVersion((int) sure);
    }
  }

  /** Stock gives an attempt the means to change execution types only if it asked for opportunistic containers. */
  static void ensureContext(FiCaSchedulerApp attempt) {
    if (attempt.getOpportunisticContainerContext() == null) {
      OpportunisticContainerContext context = new OpportunisticContainerContext();
      context.setContainerIdGenerator(new ContainerIdGenerator() {
        @Override
        public long generateContainerId() {
          return attempt.getAppSchedulingInfo().getNewContainerId();
        }
      });
      attempt.setOpportunisticContainerContext(context);
    }
  }
}
