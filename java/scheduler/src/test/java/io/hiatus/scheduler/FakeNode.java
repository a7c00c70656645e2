package io.hiatus.scheduler;

import io.hiatus.scheduler.facts.SnapshotReporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
import org.apache.hadoop.yarn.server.api.protocolrecords.NMContainerStatus;
import org.apache.hadoop.yarn.server.api.protocolrecords.NodeHeartbeatRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.NodeHeartbeatResponse;
import org.apache.hadoop.yarn.server.api.protocolrecords.RegisterNodeManagerRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.RegisterNodeManagerResponse;
import org.apache.hadoop.yarn.server.api.records.MasterKey;
import org.apache.hadoop.yarn.server.api.records.NodeHealthStatus;
import org.apache.hadoop.yarn.server.api.records.NodeStatus;
import org.apache.hadoop.yarn.server.api.records.OpportunisticContainersStatus;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceTrackerService;
import org.apache.hadoop.yarn.util.YarnVersionInfo;

/** A NodeManager that speaks the real protocol and runs nothing: it beats when it is told to. */
public final class FakeNode {
  /** What a container is for its node. */
  private static final class Running {
    final Container container;
    final long beganMs = System.currentTimeMillis();
    /** Its version then, which is what a stock node tells a ResourceManager that comes back. */
    final int began;
    ExecutionType type;
    /** Its version now; the node refuses updates that are not newer. */
    int version;

    Running(Container container) {
      this.container = container;
      this.type = container.getExecutionType();
      this.began = container.getVersion();
      this.version = began;
    }
  }

  private final NodeId id;
  private final Resource total;
  private final Set<NodeAttribute> attributes = new HashSet<>();
  private final Map<ContainerId, Running> running = new LinkedHashMap<>();
  private final List<ContainerStatus> ended = new ArrayList<>();
  /** What the node learnt from the answers to its heartbeats, oldest first: "demote X", "promote X" or "hold X". */
  private final List<String> told = new ArrayList<>();
  private ResourceTrackerService tracker;
  private MasterKey containerKey;
  private MasterKey nmKey;
  private int responseId;

  public FakeNode(String host, int memoryMb, int vcores, boolean suspends) {
    id = NodeId.newInstance(host, 1234);
    total = Resource.newInstance(memoryMb, vcores);
    if (suspends) {
      attributes.add(NodeAttribute.newInstance(NodeAttribute.PREFIX_DISTRIBUTED, SnapshotReporter.SUSPEND_ATTRIBUTE,
          NodeAttributeType.STRING, "true"));
    }
  }

  /** Its machine says that it has so much swap; its RAM is what the node offers. */
  public FakeNode withSwap(int swapMb) {
    return withAttribute(SnapshotReporter.SWAP_ATTRIBUTE, String.valueOf(swapMb));
  }

  public FakeNode withAttribute(String name, String value) {
    attributes.add(NodeAttribute.newInstance(NodeAttribute.PREFIX_DISTRIBUTED, name, NodeAttributeType.STRING, value));
    return this;
  }

  public NodeId id() {
    return id;
  }

  public Resource total() {
    return total;
  }

  /** Registers, with what runs on the node as after a restart of the ResourceManager. */
  public void register(ResourceTrackerService at) throws Exception {
    tracker = at;
    responseId = 0;
    List<NMContainerStatus> report = new ArrayList<>();
    Set<ApplicationId> apps = new HashSet<>();
    for (Running one : running.values()) {
      Container container = one.container;
      apps.add(container.getId().getApplicationAttemptId().getApplicationId());
      report.add(NMContainerStatus.newInstance(container.getId(), one.began, ContainerState.RUNNING,
          container.getResource(), "", 0, container.getPriority(), one.beganMs, "", one.type,
          container.getAllocationRequestId()));
    }
    RegisterNodeManagerRequest request = RegisterNodeManagerRequest.newInstance(id, 8042, total,
        YarnVersionInfo.getVersion(), report, new ArrayList<>(apps), null, total, attributes, status());
    RegisterNodeManagerResponse response = at.registerNodeManager(request);
    containerKey = response.getContainerTokenMasterKey();
    nmKey = response.getNMTokenMasterKey();
  }

  /** One heartbeat; what its answer says is obeyed, and reported with the next one. */
  public NodeHeartbeatResponse beat() throws Exception {
    NodeHeartbeatRequest request = NodeHeartbeatRequest.newInstance(status(), containerKey, nmKey, null, attributes,
        Collections.emptyMap());
    ended.clear();
    NodeHeartbeatResponse response = tracker.nodeHeartbeat(request);
    responseId = response.getResponseId();
    for (Container update : response.getContainersToUpdate()) {
      Running one = running.get(update.getId());
      if (one != null && update.getVersion() > one.version) {
        if (one.type != update.getExecutionType()) {
          told.add((update.getExecutionType() == ExecutionType.OPPORTUNISTIC ? "demote " : "promote ") + update.getId());
        }
        one.type = update.getExecutionType();
        one.version = update.getVersion();
        one.container.setResource(update.getResource());
      }
    }
    response.getContainersToSignalList().forEach(signal -> told.add("hold " + signal.getContainerId()));
    response.getContainersToCleanup().forEach(container -> finish(container, ContainerExitStatus.KILLED_BY_RESOURCEMANAGER));
    return response;
  }

  public void start(Container container) {
    running.put(container.getId(), new Running(container));
  }

  public void finish(ContainerId container, int exitStatus) {
    if (running.remove(container) != null) {
      ended.add(ContainerStatus.newInstance(container, ContainerState.COMPLETE, "", exitStatus));
    }
  }

  public Collection<ContainerId> running() {
    return running.keySet();
  }

  public boolean isDemoted(ContainerId container) {
    return running.containsKey(container) && running.get(container).type == ExecutionType.OPPORTUNISTIC;
  }

  public List<String> told() {
    return told;
  }

  private NodeStatus status() {
    List<ContainerStatus> statuses = new ArrayList<>(ended);
    int paused = 0;
    for (Running one : running.values()) {
      statuses.add(ContainerStatus.newInstance(one.container.getId(), one.type, ContainerState.RUNNING, "", 0));
      paused += one.type == ExecutionType.OPPORTUNISTIC ? 1 : 0;
    }
    NodeStatus status = NodeStatus.newInstance(id, responseId, statuses, Collections.emptyList(),
        NodeHealthStatus.newInstance(true, "", 0), null, null, Collections.emptyList());
    OpportunisticContainersStatus opportunistic = OpportunisticContainersStatus.newInstance();
    opportunistic.setQueuedOpportContainers(paused);
    opportunistic.setWaitQueueLength(paused);
    opportunistic.setOpportQueueCapacity(attributes.isEmpty() ? 0 : 100);
    status.setOpportunisticContainersStatus(opportunistic);
    return status;
  }
}
