package io.hiatus.scheduler;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.ExecutionTypeRequest;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceBlacklistRequest;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.ResourceSizing;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.api.records.UpdateContainerRequest;
import org.apache.hadoop.yarn.api.resource.PlacementConstraints;
import org.apache.hadoop.yarn.api.resource.PlacementConstraints.PlacementTargets;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerUtils;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.scheduler.OpportunisticContainerAllocator.ContainerIdGenerator;
import org.apache.hadoop.yarn.server.scheduler.OpportunisticContainerContext;

/** An application whose master asks, fetches and ends containers when it is told to. */
public final class FakeApp {
  private static final int PRIORITY = 20;

  private final MockCluster cluster;
  private final ApplicationId id;
  private final Map<ContainerId, Container> held = new LinkedHashMap<>();
  private final List<ContainerStatus> completed = new ArrayList<>();
  private MockAM master;

  public FakeApp(MockCluster cluster, RMApp app) {
    this.cluster = cluster;
    this.id = app.getApplicationId();
  }

  public ApplicationId id() {
    return id;
  }

  public RMApp app() {
    return cluster.context().getRMApps().get(id);
  }

  private RMAppAttempt attempt() {
    return app().getCurrentAppAttempt();
  }

  public MockAM master() {
    return master;
  }

  public boolean hasMaster() {
    return master != null;
  }

  public ContainerId masterContainer() {
    return attempt().getMasterContainer().getId();
  }

  /** Starts the master's process where its container was given out, and registers it. */
  public FakeApp startMaster() throws Exception {
    Container container = attempt().getMasterContainer();
    cluster.node(container.getNodeId()).start(container);
    master = cluster.rm().sendAMLaunched(attempt().getAppAttemptId());
    master.registerAppAttempt();
    cluster.settle();
    return this;
  }

  /** The process goes on, and registers with a ResourceManager that has come back. */
  public void reregister() throws Exception {
    master.setAMRMProtocol(cluster.rm().getApplicationMasterService(), cluster.context());
    master.registerAppAttempt(true);
  }

  /** Wants so many containers of one vcore, anywhere, instead of what it wanted before. */
  public FakeApp ask(int count, int memoryMb) throws Exception {
    return ask(count, memoryMb, PRIORITY, "");
  }

  public FakeApp ask(int count, int memoryMb, int priority, String label) throws Exception {
    take(master.allocate(Collections.singletonList(request(ResourceRequest.ANY, count, memoryMb, priority, label)),
        Collections.emptyList()));
    return this;
  }

  /** Wants so many containers of one vcore, best on that host; its rack will do, and any other. */
  public FakeApp askBestOn(String host, int count, int memoryMb) throws Exception {
    take(master.allocate(Arrays.asList(host, NetworkTopology.DEFAULT_RACK, ResourceRequest.ANY).stream()
        .map(place -> request(place, count, memoryMb, PRIORITY, "")).collect(Collectors.toList()), Collections.emptyList()));
    return this;
  }

  /** Wants so many containers of one vcore with a tag, no two of them on one node. */
  public FakeApp askApart(String tag, int count, int memoryMb) throws Exception {
    take(master.allocate(Collections.emptyList(), Collections.singletonList(SchedulingRequest.newBuilder()
        .priority(Priority.newInstance(PRIORITY)).allocationRequestId(1).allocationTags(Collections.singleton(tag))
        .executionType(ExecutionTypeRequest.newInstance(ExecutionType.GUARANTEED, true))
        .placementConstraintExpression(PlacementConstraints.build(
            PlacementConstraints.targetNotIn(PlacementConstraints.NODE, PlacementTargets.allocationTag(tag))))
        .resourceSizing(ResourceSizing.newInstance(count, Resource.newInstance(memoryMb, 1))).build()), Collections.emptyList()));
    return this;
  }

  /** Wants no container on that host. */
  public void blacklist(String host) throws Exception {
    blacklist(Collections.singletonList(host), Collections.emptyList());
  }

  /** Takes some there again. */
  public void unblacklist(String host) throws Exception {
    blacklist(Collections.emptyList(), Collections.singletonList(host));
  }

  private void blacklist(List<String> additions, List<String> removals) throws Exception {
    take(master.allocate(AllocateRequest.newInstance(0, 0, Collections.emptyList(), Collections.emptyList(),
        ResourceBlacklistRequest.newInstance(additions, removals))));
  }

  private static ResourceRequest request(String place, int count, int memoryMb, int priority, String label) {
    return ResourceRequest.newBuilder().priority(Priority.newInstance(priority)).resourceName(place)
        .capability(Resource.newInstance(memoryMb, 1)).numContainers(count).nodeLabelExpression(label).build();
  }

  /** The master calls, gets what was given out to it, and starts it. */
  public List<ContainerId> fetch() throws Exception {
    return take(master.schedule());
  }

  /** Sends updates of containers, and takes note of those that came back. */
  public AllocateResponse update(UpdateContainerRequest... requests) throws Exception {
    AllocateResponse response = master.sendContainerUpdateRequest(Arrays.asList(requests));
    take(response);
    return response;
  }

  public AllocateResponse call() throws Exception {
    AllocateResponse response = master.schedule();
    take(response);
    return response;
  }

  private List<ContainerId> take(AllocateResponse response) {
    completed.addAll(response.getCompletedContainersStatuses());
    response.getCompletedContainersStatuses().forEach(status -> held.remove(status.getContainerId()));
    response.getUpdatedContainers().forEach(update -> held.replace(update.getContainer().getId(), update.getContainer()));
    List<Container> fresh = response.getAllocatedContainers();
    fresh.forEach(container -> {
      held.put(container.getId(), container);
      cluster.node(container.getNodeId()).start(container);
    });
    return fresh.stream().map(Container::getId).collect(Collectors.toList());
  }

  /** Gets an opportunistic container, as OpportunisticContainerAllocatorAMService would give it where it is enabled. */
  public Container takeOpportunistic(FakeNode node, int memoryMb) {
    FiCaSchedulerApp attempt = withOpportunisticMeans();
    ContainerId fresh = ContainerId.newContainerId(attempt.getApplicationAttemptId(), attempt.getNewContainerId());
    Container container = Container.newInstance(fresh, node.id(), "host:80", Resource.newInstance(memoryMb, 1),
        Priority.newInstance(PRIORITY), null);
    container.setExecutionType(ExecutionType.OPPORTUNISTIC);
    SchedulerUtils.createOpportunisticRmContainer(cluster.context(), container, false)
        .handle(new RMContainerEvent(fresh, RMContainerEventType.ACQUIRED));
    held.put(fresh, container);
    node.start(container);
    cluster.settle();
    return container;
  }

  /** What that service gives to an attempt that registers. */
  public FiCaSchedulerApp withOpportunisticMeans() {
    FiCaSchedulerApp attempt = cluster.attempt(this);
    if (attempt.getOpportunisticContainerContext() == null) {
      OpportunisticContainerContext means = new OpportunisticContainerContext();
      means.setContainerIdGenerator(new ContainerIdGenerator() {
        @Override
        public long generateContainerId() {
          return attempt.getNewContainerId();
        }
      });
      attempt.setOpportunisticContainerContext(means);
    }
    return attempt;
  }

  /** Asks for the change of a container's execution type. */
  public AllocateResponse change(ContainerId container, ContainerUpdateType type) throws Exception {
    ExecutionType to = type == ContainerUpdateType.PROMOTE_EXECUTION_TYPE ? ExecutionType.GUARANTEED : ExecutionType.OPPORTUNISTIC;
    return update(UpdateContainerRequest.newInstance(cluster.container(container).getContainer().getVersion(), container, type,
        null, to));
  }

  /** Containers it has fetched and that have not ended, in the order of arrival. */
  public List<ContainerId> held() {
    return new ArrayList<>(held.keySet());
  }

  public Container container(ContainerId id) {
    return held.get(id);
  }

  /** What it was told of containers that ended. */
  public List<ContainerStatus> completed() {
    return completed;
  }

  public void release(ContainerId container) throws Exception {
    take(master.allocate(Collections.emptyList(), Collections.singletonList(container)));
    cluster.settle();
  }

  /** The container's process ends well; the node reports it with its next heartbeat. */
  public void finish(ContainerId container) {
    Container ended = held.remove(container);
    cluster.node(ended.getNodeId()).finish(container, 0);
  }

  /** Finishes all it holds and itself. */
  public void finish() throws Exception {
    for (ContainerId container : held()) {
      finish(container);
    }
    cluster.node(attempt().getMasterContainer().getNodeId()).finish(masterContainer(), 0);
    master.unregisterAppAttempt(false);
    cluster.beat();
  }
}
