package io.hiatus.simulated;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.server.api.ResourceTracker;
import org.apache.hadoop.yarn.server.api.protocolrecords.NodeHeartbeatRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.NodeHeartbeatResponse;
import org.apache.hadoop.yarn.server.api.protocolrecords.RegisterNodeManagerRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.RegisterNodeManagerResponse;
import org.apache.hadoop.yarn.server.api.protocolrecords.UnRegisterNodeManagerRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.UnRegisterNodeManagerResponse;
import org.apache.hadoop.yarn.server.api.records.MasterKey;
import org.apache.hadoop.yarn.server.api.records.NodeAction;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.util.Records;

/** The ResourceManager as one node sees it: it gives the orders that a test wants, and keeps what the node said last. */
final class FakeTracker implements ResourceTracker {
  private static final long BEAT_MS = 100;

  private final MasterKey containerKey;
  private final MasterKey nmKey;
  private List<Container> updates = new ArrayList<>();
  private List<ContainerId> kills = new ArrayList<>();
  private NodeHeartbeatRequest last;
  private boolean registered;

  /** @param containerKey with which containers' tokens are signed, null if nobody looks at them; {@code nmKey} likewise nodes' */
  FakeTracker(MasterKey containerKey, MasterKey nmKey) {
    this.containerKey = containerKey;
    this.nmKey = nmKey;
  }

  @Override
  public synchronized RegisterNodeManagerResponse registerNodeManager(RegisterNodeManagerRequest request) {
    RegisterNodeManagerResponse answer = Records.newRecord(RegisterNodeManagerResponse.class);
    answer.setNodeAction(NodeAction.NORMAL);
    answer.setRMIdentifier(ResourceManager.getClusterTimeStamp());
    answer.setContainerTokenMasterKey(containerKey);
    answer.setNMTokenMasterKey(nmKey);
    registered = true;
    return answer;
  }

  @Override
  public synchronized NodeHeartbeatResponse nodeHeartbeat(NodeHeartbeatRequest request) {
    last = request;
    NodeHeartbeatResponse answer = Records.newRecord(NodeHeartbeatResponse.class);
    answer.setNodeAction(NodeAction.NORMAL);
    answer.setResponseId(request.getNodeStatus().getResponseId() + 1);
    answer.setNextHeartBeatInterval(BEAT_MS);
    answer.addAllContainersToUpdate(updates);
    answer.addAllContainersToCleanup(kills);
    updates = new ArrayList<>();
    kills = new ArrayList<>();
    return answer;
  }

  @Override
  public UnRegisterNodeManagerResponse unRegisterNodeManager(UnRegisterNodeManagerRequest request) {
    return Records.newRecord(UnRegisterNodeManagerResponse.class);
  }

  synchronized boolean isRegistered() {
    return registered;
  }

  /** To be told with the next answer. */
  synchronized void update(Container container) {
    updates.add(container);
  }

  /** To be told with the next answer. */
  synchronized void kill(ContainerId container) {
    kills.add(container);
  }

  /** What the node said last of what is not over: by number, type, states; then its queue, and how many of these are demoted. */
  synchronized String heard() {
    if (last == null) {
      return "nothing";
    }
    TreeSet<String> containers = new TreeSet<>();
    for (ContainerStatus status : last.getNodeStatus().getContainersStatuses()) {
      if (status.getState() != ContainerState.COMPLETE) {
        containers.add(status.getContainerId().getContainerId() + " " + status.getExecutionType() + " " + status.getState() + " "
            + status.getContainerSubState());
      }
    }
    return containers + " queued " + last.getNodeStatus().getOpportunisticContainersStatus().getWaitQueueLength() + ", of them "
        + last.getNodeStatus().getOpportunisticContainersStatus().getQueuedOpportContainers() + " demoted";
  }

  /** No keys, for a node that looks at no tokens. */
  static FakeTracker withoutKeys() {
    return new FakeTracker(null, null);
  }

  /** What {@link #heard} says of containers in that state. */
  static String of(int queued, int demoted, String... containers) {
    TreeSet<String> all = new TreeSet<>();
    Collections.addAll(all, containers);
    return all + " queued " + queued + ", of them " + demoted + " demoted";
  }
}
