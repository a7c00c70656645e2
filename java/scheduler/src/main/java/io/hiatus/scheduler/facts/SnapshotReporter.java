package io.hiatus.scheduler.facts;

import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.cluster.ClusterView;
import io.hiatus.scheduler.cluster.Partitions;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.config.Preemptable;
import io.hiatus.scheduler.config.Sides;
import io.hiatus.scheduler.hadoop.HadoopApi;
import io.hiatus.scheduler.state.Demotions;
import io.hiatus.scheduler.state.Parking;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeAttribute;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.api.records.OpportunisticContainersStatus;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerAppUtils;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.QueueCapacities;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppRemovedSchedulerEvent;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the core how queues, nodes, applications and containers are now, as CapacityScheduler has them. Some of it under
 * the scheduler's write lock, as {@code HiatusScheduler} calls it.
 */
public final class SnapshotReporter {
  /** The node attribute by which a NodeManager announces that it can suspend containers. */
  public static final String SUSPEND_ATTRIBUTE = "hiatus-suspend";
  /** The one by which it tells how much swap its machine has, in MiB. */
  public static final String SWAP_ATTRIBUTE = "hiatus-swap-mb";

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotReporter.class);
  private static final String USER_SETTINGS = ".user-settings.";

  private final ClusterView cluster;
  private final Demotions demotions;
  private final Parking parking;
  /** Which nodes are on which side of a mixed cluster, by the configuration in force. */
  private volatile Sides sides;
  /** The configuration that was looked at last for weights of users, and the paths of queues that set some. */
  private Configuration lookedAt;
  private final Set<String> weighing = new HashSet<>();

  public SnapshotReporter(ClusterView cluster, Demotions demotions, Parking parking) {
    this.cluster = cluster;
    this.demotions = demotions;
    this.parking = parking;
  }

  /** Puts a configuration in force. Each node is told anew with its next heartbeat if it is on another side now. */
  public void configure(HiatusConfiguration conf) {
    sides = new Sides(conf);
  }

  /** All there is, to a core that begins. */
  public void everything(FactWriter facts) {
    queues(facts);
    Set<ApplicationId> apps = cluster.getSchedulerApplications().keySet();
    apps.forEach(id -> app(facts, id));
    cluster.getAllNodes().forEach(node -> {
      node(facts, node);
      containers(facts, node);
    });
    apps.forEach(facts::asksChanged);
    active(facts);
  }

  /** All queues with their shares and limits; what has not changed is not written again. */
  public void queues(FactWriter facts) {
    if (cluster.getRootQueue() != null) {
      Set<String> paths = new HashSet<>();
      queue(facts, cluster.getRootQueue(), Preemptable.ABOVE_ROOT, paths);
      facts.queuesAre(paths);
      userLimits(facts);
    }
  }

  /** What users may hold. Where some count more than others, nothing is told: the core learns by refusals what they may. */
  private void userLimits(FactWriter facts) {
    lookForWeights();
    for (CSQueue queue : cluster.getCapacitySchedulerQueueManager().getQueues().values()) {
      if (HadoopApi.isLeaf(queue)) {
        boolean alike = weighing.stream().noneMatch(path -> (queue.getQueuePath() + ".").startsWith(path + "."));
        double factor = HadoopApi.userLimitFactor(queue);
        boolean bounded = alike && factor >= 0; // -1: without bound
        facts.userLimits(queue.getQueuePath(), alike ? HadoopApi.userLimit(queue) / 100 : 1,
            bounded ? factor : Double.POSITIVE_INFINITY);
      }
    }
  }

  private void lookForWeights() {
    Configuration conf = cluster.getConfiguration();
    if (conf != lookedAt) {
      weighing.clear();
      for (Map.Entry<String, String> property : conf) {
        int end = property.getKey().indexOf(USER_SETTINGS);
        if (end > 0 && property.getKey().startsWith(CapacitySchedulerConfiguration.PREFIX)) {
          weighing.add(property.getKey().substring(CapacitySchedulerConfiguration.PREFIX.length(), end));
        }
      }
      lookedAt = conf;
    }
  }

  private void queue(FactWriter facts, CSQueue queue, Preemptable above, Set<String> paths) {
    Preemptable preemptable = above.below(queue.getQueuePath(), cluster.getQueueConfiguration());
    paths.add(queue.getQueuePath());
    queue(facts, queue, preemptable);
    List<CSQueue> children = queue.getChildQueues();
    for (CSQueue child : children == null ? Collections.<CSQueue>emptyList() : children) {
      queue(facts, child, preemptable, paths);
    }
  }

  private static void queue(FactWriter facts, CSQueue queue, Preemptable preemptable) {
    QueueCapacities capacities = queue.getQueueCapacities();
    Map<String, float[]> shares = new HashMap<>();
    for (String partition : capacities.getExistingNodeLabels()) {
      shares.put(partition, new float[] {capacities.getAbsoluteCapacity(partition),
          capacities.getAbsoluteMaximumCapacity(partition)});
    }
    facts.queue(queue.getQueuePath(), queue.getParent() == null ? null : queue.getParent().getQueuePath(), preemptable,
        shares);
  }

  /** A queue that the core has not heard of yet, and those above it; returns for whom it may be taken of. */
  private Preemptable freshQueue(FactWriter facts, CSQueue queue) {
    Preemptable above = queue.getParent() == null ? Preemptable.ABOVE_ROOT : freshQueue(facts, queue.getParent());
    Preemptable preemptable = above.below(queue.getQueuePath(), cluster.getQueueConfiguration());
    if (facts.queues.of(queue.getQueuePath()) == null) {
      queue(facts, queue, preemptable);
    }
    return preemptable;
  }

  /** What changed of queues and of who may run, and what applications ask for: written before each step. */
  public void changes(FactWriter facts) {
    if (facts.takeQueuesChanged()) {
      queues(facts);
    }
    if (facts.takeActiveChanged()) {
      active(facts);
    }
    facts.collectAsks(cluster::attempt, this::blacklist);
  }

  /** The nodes on which the attempt takes no container; null if nothing is blacklisted. For masters YARN does it, after a failed attempt. */
  private Collection<NodeId> blacklist(FiCaSchedulerApp attempt) {
    boolean byYarn = attempt.isWaitingForAMContainer() && attempt.getApplicationAttemptId().getAttemptId() > 1;
    if (!byYarn && attempt.getBlacklistedNodes().isEmpty()) {
      return null;
    }
    return cluster.getAllNodes().stream().filter(node -> SchedulerAppUtils.isPlaceBlacklisted(attempt, node, LOG))
        .map(FiCaSchedulerNode::getNodeID).collect(Collectors.toList());
  }

  /** A node; null is none. */
  void node(FactWriter facts, FiCaSchedulerNode node) {
    if (node != null) {
      String partition = node.getPartition();
      facts.node(node.getNodeID(), node.getTotalResource(), partition, Partitions.isShareable(cluster, partition),
          canSuspend(node), isDecommissioning(node), sides.of(node), ramAndSwapMb(node));
    }
  }

  /** What the machine's RAM and swap hold together, in MiB; 0 if it did not say both. */
  private static long ramAndSwapMb(FiCaSchedulerNode node) {
    Resource ram = node.getRMNode().getPhysicalResource();
    String swapMb = attribute(node, SWAP_ATTRIBUTE);
    return ram == null || swapMb == null || !swapMb.matches("[0-9]{1,15}") ? 0 : ram.getMemorySize() + Long.parseLong(swapMb);
  }

  /** Its value, or null. */
  private static String attribute(FiCaSchedulerNode node, String name) {
    Set<NodeAttribute> attributes = node.getNodeAttributes();
    if (attributes != null) {
      for (NodeAttribute attribute : attributes) { // with every heartbeat: no stream
        if (attribute.getAttributeKey().getAttributeName().equals(name)) {
          return attribute.getAttributeValue();
        }
      }
    }
    return null;
  }

  /** What a node said with its heartbeat, and the node itself if that tells something new of it. */
  public void heartbeat(FactWriter facts, FiCaSchedulerNode node, RMNode rmNode) {
    if (!facts.isAsTold(node.getNodeID(), canSuspend(node), isDecommissioning(node), sides.of(node))) {
      node(facts, node);
    }
    OpportunisticContainersStatus status = rmNode.getOpportunisticContainersStatus();
    int paused = status == null ? 0 : status.getQueuedOpportContainers();
    // The node's queue holds paused containers, and those of ours that it cannot start yet.
    int waiting = status == null ? 0 : Math.max(0, status.getWaitQueueLength() - paused);
    boolean isFull = !Resources.fitsIn(cluster.getResourceCalculator(), cluster.getMinimumResourceCapability(),
        node.getUnallocatedResource());
    facts.heartbeat(node.getNodeID(), paused, waiting, isFull);
  }

  /**
   * The announcement is an attribute of the host, and stays when a NodeManager there goes back to stock; that this very
   * NodeManager has a queue for demoted containers, without which it would not pause but kill, it says with each heartbeat.
   */
  private static boolean canSuspend(FiCaSchedulerNode node) {
    OpportunisticContainersStatus status = node.getRMNode().getOpportunisticContainersStatus();
    return attribute(node, SUSPEND_ATTRIBUTE) != null && (status == null || status.getOpportQueueCapacity() > 0);
  }

  /** Whether it leaves as soon as nothing runs there, or its time is over. */
  private static boolean isDecommissioning(FiCaSchedulerNode node) {
    return node.getRMNode().getState() == NodeState.DECOMMISSIONING;
  }

  /** The containers found on a node; null is none. */
  void containers(FactWriter facts, FiCaSchedulerNode node) {
    if (node != null) {
      for (RMContainer container : node.getCopiedListOfRunningContainers()) {
        facts.container(container, container.isAMContainer());
        if (parking.isParked(container.getContainerId())) {
          facts.containerParked(container.getContainerId(), true);
        }
        // The ResourceManager before this one may not have got that far. What the application has as opportunistic itself runs on.
        if (demotions.isOurs(container.getContainerId())) {
          parking.holdIfParked(container);
        }
      }
    }
  }

  /** An application, if it is still there. */
  void app(FactWriter facts, ApplicationId id) {
    SchedulerApplication<FiCaSchedulerApp> application = cluster.getSchedulerApplications().get(id);
    if (application != null) {
      RMApp rmApp = cluster.getRMContext().getRMApps().get(id);
      Set<String> tags = rmApp == null ? null : rmApp.getApplicationTags();
      String type = rmApp == null ? null : rmApp.getApplicationType();
      facts.app(id, path(facts, application.getQueue()), application.getUser(), priority(application), type == null ? "" : type,
          tags == null ? Collections.emptySet() : tags, isUnmanaged(rmApp), rmApp == null ? 0 : jobClass(rmApp));
      if (parking.isParked(id)) {
        facts.appParked(id, true);
      }
    }
  }

  private static long jobClass(RMApp app) {
    String name = app.getName();
    Set<String> tags = app.getApplicationTags();
    return Native.jobClass(name == null ? "" : name, tags == null ? "" : String.join("\n", tags));
  }

  /** What it took is worth remembering if it did its work. */
  void appRemoved(FactWriter facts, AppRemovedSchedulerEvent event) {
    RMApp app = cluster.getRMContext().getRMApps().get(event.getApplicationID());
    boolean succeeded = event.getFinalState() == RMAppState.FINISHED && app != null
        && app.getFinalApplicationStatus() == FinalApplicationStatus.SUCCEEDED;
    facts.appRemoved(event.getApplicationID(), succeeded);
  }

  private static boolean isUnmanaged(RMApp app) {
    ApplicationSubmissionContext context = app == null ? null : app.getApplicationSubmissionContext();
    return context != null && context.getUnmanagedAM();
  }

  /** Its queue or its priority changed. */
  public void appChanged(FactWriter facts, ApplicationId id) {
    SchedulerApplication<FiCaSchedulerApp> application = cluster.getSchedulerApplications().get(id);
    if (application != null) {
      facts.appChanged(id, path(facts, application.getQueue()), priority(application));
    }
  }

  /** Which applications their queues let run. */
  void active(FactWriter facts) {
    Set<ApplicationId> running = new HashSet<>();
    for (CSQueue queue : cluster.getCapacitySchedulerQueueManager().getQueues().values()) {
      if (HadoopApi.isLeaf(queue)) {
        for (FiCaSchedulerApp attempt : HadoopApi.applications(queue)) {
          running.add(attempt.getApplicationId());
        }
      }
    }
    facts.activeAre(running);
  }

  /** An attempt ended; what of it lives on stays. */
  void attemptEnded(FactWriter facts, AppAttemptRemovedSchedulerEvent event) {
    ApplicationId id = event.getApplicationAttemptID().getApplicationId();
    Set<ContainerId> kept = new HashSet<>();
    FiCaSchedulerApp attempt = cluster.attempt(id);
    if (event.getKeepContainersAcrossAppAttempts() && attempt != null) {
      attempt.getLiveContainers().forEach(container -> kept.add(container.getContainerId()));
    }
    facts.attemptEnded(id, event.getKeepContainersAcrossAppAttempts(), kept);
  }

  /** The queue's path; whoever tells of an application in it finds the core knowing it. */
  private String path(FactWriter facts, Queue queue) {
    if (!(queue instanceof CSQueue)) {
      return queue.getQueueName();
    }
    String path = ((CSQueue) queue).getQueuePath();
    if (facts.queues.of(path) == null) {
      freshQueue(facts, (CSQueue) queue);
    }
    return path;
  }

  private static int priority(SchedulerApplication<FiCaSchedulerApp> application) {
    // CapacityScheduler changes that of the attempt alone.
    FiCaSchedulerApp attempt = application.getCurrentAppAttempt();
    Priority priority = attempt == null ? application.getPriority() : attempt.getPriority();
    return priority == null ? 0 : priority.getPriority();
  }
}
