package io.hiatus.simulated;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeAttribute;
import org.apache.hadoop.yarn.api.records.NodeAttributeType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.api.ResourceTracker;
import org.apache.hadoop.yarn.server.api.protocolrecords.NodeHeartbeatRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.NodeHeartbeatResponse;
import org.apache.hadoop.yarn.server.api.protocolrecords.RegisterNodeManagerRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.RegisterNodeManagerResponse;
import org.apache.hadoop.yarn.server.api.records.MasterKey;
import org.apache.hadoop.yarn.server.api.records.NodeAction;
import org.apache.hadoop.yarn.server.api.records.NodeHealthStatus;
import org.apache.hadoop.yarn.server.api.records.NodeStatus;
import org.apache.hadoop.yarn.server.api.records.OpportunisticContainersStatus;
import org.apache.hadoop.yarn.util.YarnVersionInfo;

/** A NodeManager that runs nothing: it registers, reports and obeys over the real protocol. Any thread may call it. */
final class SimulatedNode {
  /** By this a node says that it pauses demoted containers (HiatusNodeAttributesProvider in java/nodemanager). */
  private static final String SUSPENDS = "hiatus-suspend";
  /** As NodeManagers that are set up for Hiatus have it. */
  private static final int QUEUE_CAPACITY = 1000;

  /** Who is told of the ends of a container. */
  interface Listener {
    /** It has done its work. Called with no lock held. */
    void done(ContainerId container);
  }

  final NodeId id;
  private final Resource total;
  private final boolean suspends;
  private final Node node;
  private final Clock clock;
  private final Map<ContainerId, Listener> listeners = new HashMap<>();
  private List<ContainerStatus> ended = new ArrayList<>();
  private MasterKey containerKey;
  private MasterKey nmKey;
  private int responseId;

  /** @param suspends whether it says that it pauses what is demoted */
  SimulatedNode(NodeId id, Resource total, boolean suspends, Clock clock) {
    this.id = id;
    this.total = total;
    this.suspends = suspends;
    this.node = new Node(total);
    this.clock = clock;
  }

  /** Tells the ResourceManager that it is there. */
  void register(ResourceTracker tracker) throws YarnException, IOException {
    Set<NodeAttribute> attributes = new HashSet<>();
    if (suspends) {
      attributes.add(NodeAttribute.newInstance(NodeAttribute.PREFIX_DISTRIBUTED, SUSPENDS, NodeAttributeType.STRING, "1"));
    }
    RegisterNodeManagerResponse answer = tracker.registerNodeManager(RegisterNodeManagerRequest.newInstance(id, id.getPort(), total,
        YarnVersionInfo.getVersion(), Collections.emptyList(), Collections.emptyList(), null, total, attributes, status()));
    check(answer.getNodeAction(), answer.getDiagnosticsMessage());
    containerKey = answer.getContainerTokenMasterKey();
    nmKey = answer.getNMTokenMasterKey();
  }

  /** One heartbeat; what its answer says is obeyed at once. One thread at a time. */
  void beat(ResourceTracker tracker) throws YarnException, IOException {
    advance();
    int told;
    NodeStatus status;
    synchronized (this) {
      told = ended.size();
      status = status();
    }
    NodeHeartbeatResponse answer = tracker.nodeHeartbeat(NodeHeartbeatRequest.newInstance(status, containerKey, nmKey, null, null,
        Collections.emptyMap()));
    check(answer.getNodeAction(), answer.getDiagnosticsMessage());
    responseId = answer.getResponseId();
    containerKey = answer.getContainerTokenMasterKey() == null ? containerKey : answer.getContainerTokenMasterKey();
    nmKey = answer.getNMTokenMasterKey() == null ? nmKey : answer.getNMTokenMasterKey();
    obey(answer, told);
  }

  private synchronized void obey(NodeHeartbeatResponse answer, int told) {
    ended = new ArrayList<>(ended.subList(told, ended.size()));
    long now = clock.now();
    for (Container update : answer.getContainersToUpdate()) {
      node.update(now, update.getId(), update.getExecutionType(), update.getVersion());
    }
    for (ContainerId container : answer.getContainersToCleanup()) {
      end(container, ContainerExitStatus.KILLED_BY_RESOURCEMANAGER);
    }
    Set<ApplicationId> over = new HashSet<>(answer.getApplicationsToCleanup());
    List<ContainerId> theirs = new ArrayList<>();
    for (Process process : node.processes()) {
      if (over.contains(process.id.getApplicationAttemptId().getApplicationId())) {
        theirs.add(process.id);
      }
    }
    theirs.forEach(container -> end(container, ContainerExitStatus.KILLED_AFTER_APP_COMPLETION));
  }

  private void check(NodeAction action, String why) {
    if (action != NodeAction.NORMAL) {
      throw new IllegalStateException("the ResourceManager tells " + id + " to " + action + ": " + why);
    }
  }

  /** Starts a container: {@code workMs} of work, none of it before {@link #open} if it is gated. */
  synchronized void start(ContainerId container, Resource size, ExecutionType type, int version, long workMs, boolean gated,
      Listener listener) {
    listeners.put(container, listener);
    node.start(clock.now(), new Process(container, size, type, version, workMs, gated));
  }

  /** What the container waited for is there. */
  synchronized void open(ContainerId container) {
    node.open(clock.now(), container);
  }

  /** Ends a container with that exit status; nothing if it is not here. */
  synchronized void end(ContainerId container, int exitStatus) {
    if (node.end(clock.now(), container)) {
      over(container, exitStatus);
    }
  }

  /** Ends what has done its work by now. */
  void advance() {
    Map<ContainerId, Listener> done = new HashMap<>();
    synchronized (this) {
      for (ContainerId container : node.advance(clock.now())) {
        done.put(container, over(container, ContainerExitStatus.SUCCESS));
      }
    }
    done.forEach((container, listener) -> listener.done(container));
  }

  private Listener over(ContainerId container, int exitStatus) {
    ended.add(ContainerStatus.newInstance(container, ContainerState.COMPLETE, "", exitStatus));
    return listeners.remove(container);
  }

  /** The part of its work that a container has done, 0 to 1; 0 if it is not here. */
  synchronized double done(ContainerId container) {
    Process process = node.process(container);
    return process == null ? 0 : process.done(clock.now());
  }

  /** How often containers were paused here so far. */
  synchronized int pauses() {
    return node.pauses();
  }

  private NodeStatus status() {
    List<ContainerStatus> statuses = new ArrayList<>(ended);
    node.processes().forEach(process -> statuses.add(process.status()));
    NodeStatus status = NodeStatus.newInstance(id, responseId, statuses, Collections.emptyList(),
        NodeHealthStatus.newInstance(true, "", 0), null, null, Collections.emptyList());
    OpportunisticContainersStatus opportunistic = OpportunisticContainersStatus.newInstance();
    opportunistic.setWaitQueueLength(node.queued());
    opportunistic.setQueuedOpportContainers((int) node.processes().stream()
        .filter(process -> !process.isRunning() && !process.isGuaranteed()).count());
    opportunistic.setOpportQueueCapacity(suspends ? QUEUE_CAPACITY : 0);
    status.setOpportunisticContainersStatus(opportunistic);
    return status;
  }
}
