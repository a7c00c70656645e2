package io.hiatus.scheduler;

import static java.util.Collections.emptyList;
import static java.util.Collections.singletonList;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeAttribute;
import org.apache.hadoop.yarn.api.records.NodeAttributeType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.MockNodes;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.placement.ApplicationPlacementContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.UpdatedContainerInfo;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAttributesUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;

/**
 * Nodes and jobs for a benchmark, played to a scheduler through its own interface. There are always the same number of
 * jobs: 4 in 5 have 5–20 tasks, most others 50–200, 1 in 50 has 2,000; each that is done is followed by a new one. A
 * task takes 5–30 heartbeats of its node, in which it is not suspended.
 */
final class BenchLoad {
  private static final int TASK_MB = 1024;
  private static final ContainerUpdates NO_UPDATES = new ContainerUpdates();

  /** A container on its node. */
  private static final class Task {
    final ContainerId id;
    final Job job;
    int beatsLeft;

    Task(ContainerId id, Job job, int beatsLeft) {
      this.id = id;
      this.job = job;
      this.beatsLeft = beatsLeft;
    }
  }

  /** A node: what it runs, and what it has to report. */
  private final class Node {
    final RMNode rmNode;
    final List<Task> running = new ArrayList<>();
    List<ContainerStatus> launched = new ArrayList<>();
    List<ContainerStatus> ended = new ArrayList<>();

    Node(RMNode inner) {
      rmNode = (RMNode) Proxy.newProxyInstance(RMNode.class.getClassLoader(), new Class<?>[] {RMNode.class},
          (self, method, args) -> method.getName().equals("pullContainerUpdates") ? report() : method.invoke(inner, args));
    }

    private List<UpdatedContainerInfo> report() {
      UpdatedContainerInfo news = new UpdatedContainerInfo(launched, ended, emptyList());
      launched = new ArrayList<>();
      ended = new ArrayList<>();
      return singletonList(news);
    }

    /** One second of work. */
    void work() {
      for (int i = running.size() - 1; i >= 0; i--) {
        Task task = running.get(i);
        RMContainer container = scheduler.getRMContainer(task.id);
        if (container == null || container.getExecutionType() == ExecutionType.GUARANTEED && --task.beatsLeft <= 0) {
          running.remove(i);
          ended.add(ContainerStatus.newInstance(task.id, ContainerState.COMPLETE, "", 0));
          if (container != null) {
            task.job.left--;
          }
        }
      }
    }
  }

  /** A job and its master. */
  private static final class Job {
    ApplicationAttemptId attempt;
    Container master;
    int left;
    boolean asked;
  }

  private final CapacityScheduler scheduler;
  private final MockRM rm;
  private final Random random = new Random(1);
  private final Map<NodeId, Node> nodes = new HashMap<>();
  private final List<Node> order = new ArrayList<>();
  private final List<Job> jobs = new ArrayList<>();
  private int submitted;
  private long given;

  BenchLoad(MockRM rm, int nodeCount, int slots, int jobCount) {
    this.rm = rm;
    scheduler = (CapacityScheduler) rm.getResourceScheduler();
    Map<String, Set<NodeAttribute>> attributes = new HashMap<>();
    Set<NodeAttribute> suspends = Collections.singleton(NodeAttribute.newInstance(NodeAttribute.PREFIX_DISTRIBUTED,
        Teller.SUSPEND_ATTRIBUTE, NodeAttributeType.STRING, "true"));
    for (int i = 0; i < nodeCount; i++) {
      String host = "10.0." + i / 250 + "." + (i % 250 + 1);
      Node node = new Node(MockNodes.newNodeInfo(i / 40, Resource.newInstance(slots * TASK_MB, 2 * slots), i, host, 1234));
      nodes.put(node.rmNode.getNodeID(), node);
      order.add(node);
      attributes.put(host, suspends);
      scheduler.handle(new NodeAddedSchedulerEvent(node.rmNode));
    }
    scheduler.handle(new NodeAttributesUpdateSchedulerEvent(attributes));
    for (int i = 0; i < jobCount; i++) {
      jobs.add(submit());
    }
  }

  int nodes() {
    return order.size();
  }

  int jobs() {
    return jobs.size();
  }

  /** Containers given out so far. */
  long given() {
    return given;
  }

  /** A second passes on the node. */
  void work(int node) {
    order.get(node).work();
  }

  /** The node reports in: this is the scheduler's work. */
  void beat(int node) {
    scheduler.handle(new NodeUpdateSchedulerEvent(order.get(node).rmNode));
  }

  /** The job's master calls, and starts what it got; a job that is done is followed by another. */
  void call(int number) {
    Job job = jobs.get(number);
    boolean ask = job.master != null && !job.asked;
    job.asked |= ask;
    List<ResourceRequest> asks = ask ? singletonList(request(20, TASK_MB, job.left)) : emptyList();
    for (Container container : allocate(job, asks)) {
      given++;
      boolean isMaster = job.master == null;
      if (isMaster) {
        job.master = container;
      }
      Node node = nodes.get(container.getNodeId());
      node.launched.add(ContainerStatus.newInstance(container.getId(), ContainerState.RUNNING, "", 0));
      node.running.add(new Task(container.getId(), job, isMaster ? Integer.MAX_VALUE : 5 + random.nextInt(26)));
    }
    if (job.asked && job.left <= 0) {
      scheduler.handle(new AppAttemptRemovedSchedulerEvent(job.attempt, RMAppAttemptState.FINISHED, false));
      scheduler.handle(new AppRemovedSchedulerEvent(job.attempt.getApplicationId(), RMAppState.FINISHED));
      rm.getRMContext().getRMApps().remove(job.attempt.getApplicationId());
      jobs.set(number, submit());
    }
  }

  private List<Container> allocate(Job job, List<ResourceRequest> asks) {
    return scheduler.allocate(job.attempt, asks, emptyList(), emptyList(), null, null, NO_UPDATES).getContainers();
  }

  private static ResourceRequest request(int priority, int memoryMb, int count) {
    return ResourceRequest.newBuilder().priority(Priority.newInstance(priority)).resourceName(ResourceRequest.ANY)
        .capability(Resource.newInstance(memoryMb, 1)).numContainers(count).build();
  }

  private Job submit() {
    Job job = new Job();
    int of50 = random.nextInt(50);
    job.left = of50 == 0 ? 2_000 : of50 < 10 ? 50 + random.nextInt(151) : 5 + random.nextInt(16);
    ApplicationId id = ApplicationId.newInstance(1, ++submitted);
    job.attempt = ApplicationAttemptId.newInstance(id, 1);
    RMAppAttempt attempt = mock(RMAppAttempt.class, withSettings().stubOnly());
    when(attempt.getAppAttemptId()).thenReturn(job.attempt);
    when(attempt.getMasterContainer()).thenAnswer(call -> job.master);
    when(attempt.getRMAppAttemptMetrics()).thenReturn(new RMAppAttemptMetrics(job.attempt, rm.getRMContext()));
    RMApp app = mock(RMApp.class, withSettings().stubOnly());
    when(app.getApplicationId()).thenReturn(id);
    when(app.getCurrentAppAttempt()).thenReturn(attempt);
    when(app.getUser()).thenReturn("user" + submitted % 7);
    when(app.getQueue()).thenReturn("root.default");
    rm.getRMContext().getRMApps().put(id, app);
    scheduler.handle(new AppAddedSchedulerEvent(id, "root.default", "user" + submitted % 7,
        new ApplicationPlacementContext("default", "root")));
    scheduler.handle(new AppAttemptAddedSchedulerEvent(job.attempt, false));
    allocate(job, singletonList(request(0, TASK_MB / 2, 1)));
    return job;
  }
}
