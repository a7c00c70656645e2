package io.hiatus.scheduler;

import static java.util.Collections.emptyList;

import io.hiatus.scheduler.facts.SnapshotReporter;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.NodeAttribute;
import org.apache.hadoop.yarn.api.records.NodeAttributeType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.api.protocolrecords.NMContainerStatus;
import org.apache.hadoop.yarn.server.resourcemanager.MockNodes;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.placement.ApplicationPlacementContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.MockRMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAttributesUpdateSchedulerEvent;
import org.apache.hadoop.yarn.util.Records;

/** Nodes that can suspend and applications without processes, told to a scheduler through its own interface: for benchmarks. */
final class BenchCluster {
  /** Memory of a usual container. */
  static final int TASK_MB = 1024;
  private static final int NODES_PER_RACK = 40;
  private static final Set<NodeAttribute> SUSPENDS = Collections.singleton(NodeAttribute.newInstance(
      NodeAttribute.PREFIX_DISTRIBUTED, SnapshotReporter.SUSPEND_ATTRIBUTE, NodeAttributeType.STRING, "true"));
  private static final ContainerUpdates NO_UPDATES = new ContainerUpdates();

  /** An application as the scheduler asks for it. */
  private static final class App extends MockRMApp {
    private final ApplicationId id;
    private final ApplicationSubmissionContext submission = Records.newRecord(ApplicationSubmissionContext.class);

    App(ApplicationId id, boolean unmanaged) {
      super(id.getId(), 0, RMAppState.RUNNING);
      this.id = id;
      submission.setApplicationId(id);
      submission.setUnmanagedAM(unmanaged);
    }

    @Override
    public ApplicationId getApplicationId() {
      return id;
    }

    /** One that may be suspended. */
    @Override
    public String getApplicationType() {
      return "SPARK";
    }

    @Override
    public ApplicationSubmissionContext getApplicationSubmissionContext() {
      return submission;
    }

    @Override
    public RMAppAttempt getRMAppAttempt(ApplicationAttemptId attempt) {
      return getCurrentAppAttempt();
    }

    @Override
    public Map<String, String> getApplicationSchedulingEnvs() {
      return Collections.emptyMap();
    }
  }

  final ResourceScheduler scheduler;
  private final MockRM rm;
  private final Map<NodeId, BenchNode> nodes = new LinkedHashMap<>();
  private int submitted;

  BenchCluster(MockRM rm) {
    this.rm = rm;
    scheduler = rm.getResourceScheduler();
  }

  /** What every benchmark sets, so that the schedulers have the same to do. */
  static Configuration configuration(Class<? extends ResourceScheduler> scheduler) {
    YarnConfiguration conf = new YarnConfiguration();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, scheduler, ResourceScheduler.class);
    // By default all ResourceManagers of a machine's user share one, and fail while another one starts.
    conf.set(YarnConfiguration.FS_NODE_ATTRIBUTE_STORE_ROOT_DIR, "file:${hadoop.tmp.dir}/node-attributes");
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 256);
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1");
    // Stock hands out several containers per heartbeat only if told to; otherwise it would have less to do.
    conf.set("yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments", "100");
    return conf;
  }

  /** Makes a node of so many usual containers, of which the scheduler does not know yet. */
  BenchNode newNode(int slots) {
    int i = nodes.size();
    BenchNode node = new BenchNode(MockNodes.newNodeInfo(i / NODES_PER_RACK,
        Resource.newInstance(slots * TASK_MB, 2 * slots), i, "10.0." + i / 250 + "." + (i % 250 + 1), 1234));
    nodes.put(node.rmNode.getNodeID(), node);
    return node;
  }

  /** The node joins, with what runs there, and says that it can suspend. */
  void join(BenchNode node, List<NMContainerStatus> running) {
    scheduler.handle(new NodeAddedSchedulerEvent(node.rmNode, running));
    scheduler.handle(new NodeAttributesUpdateSchedulerEvent(
        Collections.singletonMap(node.rmNode.getHostName(), SUSPENDS)));
  }

  /** All nodes, in the order in which they were made. */
  List<BenchNode> nodes() {
    return new ArrayList<>(nodes.values());
  }

  BenchNode node(NodeId id) {
    return nodes.get(id);
  }

  /** A new application; {@code master} gives its master's container once there is one, and is null if YARN runs none. */
  ApplicationAttemptId submit(String queue, String user, Supplier<Container> master) {
    ApplicationId id = ApplicationId.newInstance(1, ++submitted);
    ApplicationAttemptId attemptId = ApplicationAttemptId.newInstance(id, 1);
    App app = new App(id, master == null);
    app.setUser(user);
    app.setQueue("root." + queue);
    app.setCurrentAppAttempt(attempt(attemptId, master));
    rm.getRMContext().getRMApps().put(id, app);
    scheduler.handle(new AppAddedSchedulerEvent(id, "root." + queue, user, new ApplicationPlacementContext(queue, "root")));
    scheduler.handle(new AppAttemptAddedSchedulerEvent(attemptId, false));
    return attemptId;
  }

  /** The application is done. */
  void finish(ApplicationAttemptId attempt) {
    scheduler.handle(new AppAttemptRemovedSchedulerEvent(attempt, RMAppAttemptState.FINISHED, false));
    scheduler.handle(new AppRemovedSchedulerEvent(attempt.getApplicationId(), RMAppState.FINISHED));
    rm.getRMContext().getRMApps().remove(attempt.getApplicationId());
  }

  /** A call of the application's master: what it wants instead of what it wanted, and what it gets. */
  List<Container> allocate(ApplicationAttemptId attempt, List<ResourceRequest> asks) {
    return scheduler.allocate(attempt, asks, emptyList(), emptyList(), null, null, NO_UPDATES).getContainers();
  }

  /** Containers of one vcore, anywhere. */
  static ResourceRequest ask(int priority, int memoryMb, int count) {
    return ResourceRequest.newBuilder().priority(Priority.newInstance(priority)).resourceName(ResourceRequest.ANY)
        .capability(Resource.newInstance(memoryMb, 1)).numContainers(count).build();
  }

  /** What schedulers ask of an attempt; a proxy because a mock would cost more than what is measured. */
  private RMAppAttempt attempt(ApplicationAttemptId id, Supplier<Container> master) {
    RMAppAttemptMetrics metrics = new RMAppAttemptMetrics(id, rm.getRMContext());
    return (RMAppAttempt) Proxy.newProxyInstance(RMAppAttempt.class.getClassLoader(), new Class<?>[] {RMAppAttempt.class},
        (self, method, args) -> {
          switch (method.getName()) {
            case "getAppAttemptId":
              return id;
            case "getRMAppAttemptMetrics":
              return metrics;
            case "getMasterContainer":
              return master == null ? null : master.get();
            default:
              if (method.getReturnType() == void.class) {
                return null;
              }
              throw new UnsupportedOperationException("RMAppAttempt." + method.getName());
          }
        });
  }
}
