package io.hiatus.scheduler.apply;

import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.bridge.Rejection;
import io.hiatus.scheduler.cluster.ClusterAccess;
import io.hiatus.scheduler.cluster.Partitions;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import io.hiatus.scheduler.state.Demotions;
import io.hiatus.scheduler.state.Parking;
import java.nio.ByteBuffer;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.commons.lang3.StringUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSAssignment;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.SchedulingMode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.SimpleCandidateNodeSet;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the core's decisions with CapacityScheduler's own means, which check each against their limits, and writes
 * down what became of it. Runs under the scheduler's write lock.
 */
public final class DecisionExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(DecisionExecutor.class);
  /** So many decisions in a row. */
  private static final int MOST_FAILURES = 20;
  /** A suspension's reason in the records: what is suspended lends its room. */
  private static final int LENT = 2;

  private final ClusterAccess cluster;
  private final FactWriter facts;
  private final HiatusMetrics metrics;
  private final ContainerControl control;
  private final Demotions demotions;
  private final Parking parking;
  private final DecisionLog log;
  private int failures;

  public DecisionExecutor(ClusterAccess cluster, FactWriter facts, HiatusMetrics metrics, ContainerControl control, Demotions demotions, Parking parking,
      DecisionLog log) {
    this.cluster = cluster;
    this.facts = facts;
    this.metrics = metrics;
    this.control = control;
    this.demotions = demotions;
    this.parking = parking;
    this.log = log;
  }

  /**
   * Carries out the decision at {@code at}, or with {@code observeOnly} only says that it was not.
   *
   * @return of how many containers it spoke
   */
  public int apply(ByteBuffer answers, int at, boolean observeOnly) {
    int kind = answers.getInt(at);
    if (kind == Records.Assign.KIND) {
      int app = Records.Assign.app(answers, at);
      int node = Records.Assign.node(answers, at);
      int count = Records.Assign.count(answers, at);
      Resource room = room(Records.Assign.memoryMb(answers, at), Records.Assign.vcores(answers, at));
      placed(app, node, observeOnly ? Rejection.OBSERVED : attempted(() -> assign(app, node, count, one -> takes(room, one))));
      return Math.max(1, count);
    }
    if (kind == Records.Lend.KIND) {
      int app = Records.Lend.app(answers, at);
      int node = Records.Lend.node(answers, at);
      int priority = Records.Lend.priority(answers, at);
      placed(app, node, observeOnly ? Rejection.OBSERVED : attempted(() -> assign(app, node, 1, one -> isOf(one, priority))));
      return 1;
    }
    int handle;
    String what;
    String why;
    BiFunction<FiCaSchedulerApp, RMContainer, Rejection> how;
    if (kind == Records.Suspend.KIND) {
      int reason = Records.Suspend.reason(answers, at);
      handle = Records.Suspend.container(answers, at);
      what = "suspended";
      why = whySuspended(reason, Records.Suspend.by(answers, at));
      how = (attempt, container) -> suspend(attempt, container, reason == LENT);
    } else if (kind == Records.Resume.KIND) {
      handle = Records.Resume.container(answers, at);
      what = "resumed";
      why = "it has room";
      how = control::promote;
    } else {
      handle = Records.Kill.container(answers, at);
      what = "killed";
      why = whyKilled(Records.Kill.cause(answers, at), Records.Kill.by(answers, at));
      how = control::kill;
    }
    Rejection rejection = observeOnly ? Rejection.OBSERVED : attempted(() -> change(handle, how, what, why));
    if (rejection != null) {
      facts.containerRefused(handle, rejection);
      ContainerId id = facts.containers.thing(handle);
      metrics.refused(id == null ? null : cluster.getCurrentAttemptForContainer(id), rejection);
    }
    return 1;
  }

  private void placed(int app, int node, Rejection rejection) {
    if (rejection != null) {
      facts.assignRefused(app, node, rejection);
      ApplicationId id = facts.apps.thing(app);
      metrics.refused(id == null ? null : cluster.attempt(id), rejection);
    }
  }

  /** What CapacityScheduler fails over is refused for now; where it fails over everything, Hiatus is of no use. */
  private Rejection attempted(Supplier<Rejection> decision) {
    try {
      Rejection rejection = decision.get();
      failures = 0;
      return rejection;
    } catch (RuntimeException e) {
      if (++failures >= MOST_FAILURES) {
        throw e;
      }
      LOG.warn("CapacityScheduler failed to carry out a decision ({} in a row); it counts as refused", failures, e);
      return Rejection.ROOM;
    }
  }

  /**
   * Gives up to {@code count} containers; returns why not all, or null.
   *
   * @param meant whether it is what the core meant: CapacityScheduler serves an application's asks in their order, and the one that comes
   *        first may be another, or have come meanwhile
   */
  private Rejection assign(int app, int nodeHandle, int count, Predicate<CSAssignment> meant) {
    NodeId nodeId = facts.nodes.thing(nodeHandle);
    ApplicationId appId = facts.apps.thing(app);
    FiCaSchedulerNode node = nodeId == null ? null : cluster.getNode(nodeId);
    FiCaSchedulerApp attempt = appId == null ? null : cluster.attempt(appId);
    if (node == null || attempt == null || attempt.isStopped()) {
      return Rejection.GONE;
    }
    for (int i = 0; i < count; i++) {
      Rejection rejection = assignOne(attempt, node, meant);
      if (rejection != null) {
        return rejection;
      }
      metrics.assigned(attempt);
    }
    return null;
  }

  private Rejection assignOne(FiCaSchedulerApp attempt, FiCaSchedulerNode node, Predicate<CSAssignment> meant) {
    CSAssignment assignment = assignment(attempt, node, SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY);
    if (isNothing(assignment) && Partitions.isShareable(cluster, node.getPartition())) {
      assignment = assignment(attempt, node, SchedulingMode.IGNORE_PARTITION_EXCLUSIVITY);
    }
    if (isNothing(assignment)) {
      return assignment.getSkippedType() == CSAssignment.SkippedType.QUEUE_LIMIT ? Rejection.LIMIT : Rejection.LOCALITY;
    }
    if (assignment.getAssignmentInformation().getNumReservations() > 0) {
      // It would reserve: keeping room for large asks is the core's, with its claims.
      return Rejection.ROOM;
    }
    if (!meant.test(assignment)) {
      return Rejection.ROOM;
    }
    ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request =
        cluster.createResourceCommitRequest(assignment);
    if (request == null || !cluster.commit(attempt, request)) {
      return Rejection.LIMIT;
    }
    return null;
  }

  private CSAssignment assignment(FiCaSchedulerApp attempt, FiCaSchedulerNode node, SchedulingMode mode) {
    CSAssignment assignment = attempt.assignContainers(cluster.getClusterResource(),
        new SimpleCandidateNodeSet<>(node), Partitions.limits(cluster, node.getPartition()), mode, null);
    assignment.setSchedulingMode(mode);
    return assignment;
  }

  private static Resource room(long memoryMb, long vcores) {
    return Resource.newInstance(memoryMb, (int) Math.min(vcores, Integer.MAX_VALUE));
  }

  /** Whether it fits what is left of the room, which is then less by it. What a node has besides, the core does not know. */
  private static boolean takes(Resource room, CSAssignment assignment) {
    Resource needed = assignment.getResource();
    if (needed.getMemorySize() > room.getMemorySize() || needed.getVirtualCores() > room.getVirtualCores()) {
      return false;
    }
    room.setMemorySize(room.getMemorySize() - needed.getMemorySize());
    room.setVirtualCores(room.getVirtualCores() - needed.getVirtualCores());
    return true;
  }

  private static boolean isOf(CSAssignment assignment, int priority) {
    return assignment.getAssignmentInformation().getAllocationDetails().stream()
        .allMatch(one -> one.rmContainer.getAllocatedSchedulerKey().getPriority().getPriority() == priority);
  }

  private boolean isNothing(CSAssignment assignment) {
    return !Resources.greaterThan(cluster.getResourceCalculator(), cluster.getClusterResource(),
        assignment.getResource(), Resources.none());
  }

  private Rejection change(int handle, BiFunction<FiCaSchedulerApp, RMContainer, Rejection> how, String what, String why) {
    ContainerId id = facts.containers.thing(handle);
    RMContainer container = id == null ? null : cluster.getRMContainer(id);
    FiCaSchedulerApp attempt = id == null ? null : cluster.getCurrentAttemptForContainer(id);
    if (container == null || attempt == null || attempt.isStopped()) {
      return Rejection.GONE;
    }
    Rejection rejection = how.apply(attempt, container);
    if (rejection == null) {
      log.done(StringUtils.capitalize(what), container, attempt.getUser(), why);
    } else {
      log.refused(what, container, attempt.getUser(), why + ", but refused: " + rejection);
    }
    return rejection;
  }

  private String whySuspended(int reason, int by) {
    switch (reason) {
      case 0:
        return "its room is for " + facts.apps.thing(by);
      case 1:
        return "it is parked";
      case LENT:
        return "it waits for maps of its job and lends its room";
      case 3:
        return "its room is " + facts.containers.thing(by) + "'s again, which had lent it";
      case 5:
        return "its node offers less than it has given out";
      default:
        return "it was so before";
    }
  }

  private String whyKilled(int cause, int by) {
    switch (cause) {
      case 0:
        return "its room is for " + facts.apps.thing(by);
      case 1:
        return "it was suspended for too long";
      case 2:
        return "it was suspended, and its node had no room for it for too long";
      default:
        return "it was suspended, and in the way of a container that could not start";
    }
  }

  private Rejection suspend(FiCaSchedulerApp attempt, RMContainer container, boolean lends) {
    Rejection rejection = control.demote(attempt, container);
    if (rejection == null) {
      facts.demoted(container.getContainerId());
      parking.holdIfParked(container);
      if (lends) {
        demotions.lends(container);
      }
    }
    return rejection;
  }
}
