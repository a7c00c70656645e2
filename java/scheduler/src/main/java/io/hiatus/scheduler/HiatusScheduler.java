package io.hiatus.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.SettableFuture;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeAttribute;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.api.records.OpportunisticContainersStatus;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.AbstractLeafQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSAssignment;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.QueueCapacities;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAttributesUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeResourceUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;

/**
 * CapacityScheduler that asks the Hiatus core who is served next. It tells the core what happens and carries out what
 * the core proposes; queues, limits, access control, labels, recovery and web pages are CapacityScheduler's. There is
 * no policy here.
 */
public class HiatusScheduler extends CapacityScheduler {
  /** The node attribute by which a NodeManager announces that it can suspend containers. */
  static final String SUSPEND_ATTRIBUTE = "hiatus-suspend";

  private final StockPlacement stock = new StockPlacement(this);
  private final Parking parking = new Parking(this);
  private HiatusMetrics metrics;
  private Engine engine;
  private Thread ticker;
  private Thread poller;

  @Override
  public void serviceInit(Configuration conf) throws Exception {
    // With asynchronous scheduling on, a heartbeat places nothing by itself: what is placed is placed here.
    conf.setBoolean(CapacitySchedulerConfiguration.SCHEDULE_ASYNCHRONOUSLY_ENABLE, true);
    // Demotions and promotions go to the node without the application's help.
    conf.setBoolean(YarnConfiguration.RM_AUTO_UPDATE_CONTAINERS, true);
    // A set: a ResourceManager that becomes active again makes a new scheduler from the same configuration.
    Set<String> pages = new TreeSet<>(conf.getTrimmedStringCollection(YarnConfiguration.YARN_HTTP_WEBAPP_EXTERNAL_CLASSES));
    pages.add(HiatusWebService.class.getName());
    conf.setStrings(YarnConfiguration.YARN_HTTP_WEBAPP_EXTERNAL_CLASSES, pages.toArray(new String[0]));
    metrics = HiatusMetrics.register(createMetrics());
    engine = new Engine(this, metrics);
    super.serviceInit(conf);
    getAsyncSchedulerThreads().clear();
    underWriteLock(() -> engine.configure(new HiatusConfiguration(getConfiguration())));
  }

  @Override
  public void serviceStart() throws Exception {
    super.serviceStart();
    HiatusConfiguration conf = new HiatusConfiguration(getConfiguration());
    long intervalMs = conf.stepIntervalMs();
    ticker = new Thread(() -> tickEvery(intervalMs), "HiatusTicker");
    ticker.setDaemon(true);
    ticker.start();
    if (conf.progressIntervalMs() > 0) {
      poller = new ProgressPoller(this::apps, engine::facts, conf);
      poller.start();
    }
  }

  @Override
  public void serviceStop() throws Exception {
    for (Thread thread : new Thread[] {ticker, poller}) {
      if (thread != null) {
        thread.interrupt();
        thread.join();
      }
    }
    if (engine != null) {
      underWriteLock(engine::stop);
    }
    super.serviceStop();
  }

  @Override
  public void reinitialize(Configuration newConf, RMContext context) throws IOException {
    try {
      Engine.check(new HiatusConfiguration(getCsConfProvider().loadConfiguration(new Configuration(newConf))));
    } catch (RuntimeException e) {
      throw new IOException(e.getMessage(), e);
    }
    super.reinitialize(newConf, context);
    underWriteLock(() -> {
      engine.configure(new HiatusConfiguration(getConfiguration()));
      tellQueues();
      collectActive();
    });
  }

  HiatusMetrics createMetrics() {
    return new HiatusMetrics();
  }

  // ---- What happens, told to the core ----

  @Override
  public void handle(SchedulerEvent event) {
    super.handle(event);
    Facts facts = engine.facts();
    if (facts == null) {
      return;
    }
    switch (event.getType()) {
      case NODE_ADDED:
        NodeId added = ((NodeAddedSchedulerEvent) event).getAddedRMNode().getNodeID();
        underWriteLock(() -> {
          tellNode(facts, getNode(added));
          tellContainers(facts, getNode(added));
          tellQueues();
          collectActive();
        });
        break;
      case NODE_REMOVED:
        facts.nodeRemoved(((NodeRemovedSchedulerEvent) event).getRemovedRMNode().getNodeID());
        tellQueues();
        break;
      case NODE_RESOURCE_UPDATE:
        NodeId resized = ((NodeResourceUpdateSchedulerEvent) event).getRMNode().getNodeID();
        underWriteLock(() -> {
          tellNode(facts, getNode(resized));
          tellQueues();
        });
        break;
      case NODE_ATTRIBUTES_UPDATE:
        Set<String> hosts = ((NodeAttributesUpdateSchedulerEvent) event).getUpdatedNodeToAttributes().keySet();
        underWriteLock(() -> hosts.forEach(host -> getNodeIds(host).forEach(id -> tellNode(facts, getNode(id)))));
        break;
      case NODE_LABELS_UPDATE:
        underWriteLock(() -> {
          getAllNodes().forEach(node -> tellNode(facts, node));
          tellQueues();
        });
        break;
      case APP_ADDED:
        tellQueues();
        tellApp(facts, ((AppAddedSchedulerEvent) event).getApplicationId());
        break;
      case APP_ATTEMPT_ADDED:
        ApplicationId attempted = ((AppAttemptAddedSchedulerEvent) event).getApplicationAttemptId().getApplicationId();
        facts.asksChanged(attempted);
        collectActive();
        break;
      case APP_ATTEMPT_REMOVED:
        tellAttemptEnded(facts, (AppAttemptRemovedSchedulerEvent) event);
        collectActive();
        break;
      case APP_REMOVED:
        facts.appRemoved(((AppRemovedSchedulerEvent) event).getApplicationID());
        parking.forget(((AppRemovedSchedulerEvent) event).getApplicationID());
        collectActive();
        break;
      case MANAGE_QUEUE:
      case AUTO_QUEUE_DELETION:
        tellQueues();
        break;
      default:
        break;
    }
  }

  @Override
  public Allocation allocate(ApplicationAttemptId id, List<ResourceRequest> ask,
      List<SchedulingRequest> schedulingRequests, List<ContainerId> release, List<String> blacklistAdditions,
      List<String> blacklistRemovals, ContainerUpdates updateRequests) {
    Allocation allocation = super.allocate(id, ask, schedulingRequests, release, blacklistAdditions,
        blacklistRemovals, updateRequests);
    Facts facts = engine.facts();
    if (facts != null) {
      if (!ask.isEmpty() || schedulingRequests != null && !schedulingRequests.isEmpty()
          || !updateRequests.getIncreaseRequests().isEmpty()) {
        facts.asksChanged(id.getApplicationId());
      }
      // Changes that the application asked for itself, or stock placement made.
      each(allocation.getPromotedContainers(), container -> facts.promoted(container.getId()));
      each(allocation.getDemotedContainers(), container -> facts.demoted(container.getId()));
      each(allocation.getIncreasedContainers(), container -> facts.resized(getRMContainer(container.getId())));
      each(allocation.getDecreasedContainers(), container -> facts.resized(getRMContainer(container.getId())));
    }
    return allocation;
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public boolean tryCommit(Resource cluster, ResourceCommitRequest request, boolean updatePending) {
    ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> typed = request;
    boolean allocates = !typed.getContainersToAllocate().isEmpty();
    boolean forMaster = allocates && typed.getFirstAllocatedOrReservedContainer().getAllocatedOrReservedContainer()
        .getSchedulerApplicationAttempt().isWaitingForAMContainer();
    boolean committed = super.tryCommit(cluster, request, updatePending);
    Facts facts = engine.facts();
    if (committed && allocates && facts != null) {
      RMContainer container =
          typed.getFirstAllocatedOrReservedContainer().getAllocatedOrReservedContainer().getRmContainer();
      if (Facts.isHolder(container)) {
        facts.asksChanged(container.getApplicationAttemptId().getApplicationId());
      } else {
        facts.container(container, forMaster);
      }
    }
    return committed;
  }

  /** With the threads of asynchronous scheduling off, stock's proposals are committed where they are made. */
  @Override
  public void submitResourceCommitRequest(Resource cluster, CSAssignment assignment) {
    ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request = createResourceCommitRequest(assignment);
    if (request != null) {
      tryCommit(cluster, request, true);
    }
  }

  @Override
  protected void containerLaunchedOnNode(ContainerId id, SchedulerNode node) {
    super.containerLaunchedOnNode(id, node);
    Facts facts = engine.facts();
    if (facts != null) {
      facts.launched(id);
    }
  }

  @Override
  public void completedContainer(RMContainer container, ContainerStatus status, RMContainerEventType event) {
    super.completedContainer(container, status, event);
    tellCompleted(container, status);
  }

  /** Some of CapacityScheduler's own paths to a container's end do not pass completedContainer of this class. */
  @Override
  protected void completedContainerInternal(RMContainer container, ContainerStatus status, RMContainerEventType event) {
    super.completedContainerInternal(container, status, event);
    tellCompleted(container, status);
  }

  @Override
  public String moveApplication(ApplicationId id, String target) throws YarnException {
    String moved = super.moveApplication(id, target);
    tellAppChanged(id);
    collectActive();
    return moved;
  }

  @Override
  public Priority updateApplicationPriority(Priority priority, ApplicationId id,
      SettableFuture<Object> future, UserGroupInformation user) throws YarnException {
    Priority updated = super.updateApplicationPriority(priority, id, future, user);
    tellAppChanged(id);
    return updated;
  }

  @Override
  protected void nodeUpdate(RMNode rmNode) {
    super.nodeUpdate(rmNode);
    underWriteLock(() -> {
      FiCaSchedulerNode node = getNode(rmNode.getNodeID());
      Facts facts = engine.facts();
      if (node != null && facts != null) {
        if (facts.saidToSuspend(node.getNodeID()) != canSuspend(node)) {
          tellNode(facts, node);
        }
        OpportunisticContainersStatus status = rmNode.getOpportunisticContainersStatus();
        int paused = status == null ? 0 : status.getQueuedOpportContainers();
        // The node's queue holds paused containers, and those of ours that it cannot start yet.
        int waiting = status == null ? 0 : Math.max(0, status.getWaitQueueLength() - paused);
        facts.heartbeat(node.getNodeID(), paused, waiting);
        engine.step();
      }
      // The engine may just have failed: then stock serves this very heartbeat.
      if (node != null && !engine.places() && isReady()) {
        stock.place(node);
      }
    });
  }

  // ---- What the engine needs of the scheduler ----

  FiCaSchedulerNode node(int handle) {
    NodeId id = engine.facts().nodes.thing(handle);
    return id == null ? null : getNode(id);
  }

  FiCaSchedulerApp attempt(int handle) {
    ApplicationId id = engine.facts().apps.thing(handle);
    return id == null ? null : attempt(id);
  }

  /** The application's current attempt, or null. */
  FiCaSchedulerApp attempt(ApplicationId id) {
    SchedulerApplication<FiCaSchedulerApp> application = applications.get(id);
    return application == null ? null : application.getCurrentAppAttempt();
  }

  void update(SchedulerApplicationAttempt attempt, ContainerUpdates updates) {
    handleContainerUpdates(attempt, updates);
  }

  private List<RMApp> apps() {
    return applications.keySet().stream().map(getRMContext().getRMApps()::get).filter(Objects::nonNull)
        .collect(Collectors.toList());
  }

  boolean countsMemoryOnly() {
    return getResourceCalculator() instanceof DefaultResourceCalculator;
  }

  /** After a restart the ResourceManager gives nodes time to report before anything is placed. */
  boolean isReady() {
    return !getRMContext().isWorkPreservingRecoveryEnabled()
        || getRMContext().isSchedulerReadyForAllocatingContainers();
  }

  /** Takes back what stock reserved: Hiatus keeps room for large asks in its own way, and a reserved node takes nothing else. */
  void dropReservations() {
    for (FiCaSchedulerNode node : getAllNodes()) {
      if (node.getReservedContainer() != null) {
        killReservedContainer(node.getReservedContainer());
      }
    }
  }

  /** Tells the core everything from the beginning. */
  void tellEverything() {
    Facts facts = engine.facts();
    tellQueues();
    applications.keySet().forEach(id -> tellApp(facts, id));
    getAllNodes().forEach(node -> {
      tellNode(facts, node);
      tellContainers(facts, node);
    });
    applications.keySet().forEach(facts::asksChanged);
    parking.tell(facts);
    collectActive();
  }

  /** Tells the core which applications their queues let run. */
  void collectActive() {
    Facts facts = engine.facts();
    if (facts == null) {
      return;
    }
    Set<ApplicationId> running = new HashSet<>();
    for (CSQueue queue : getCapacitySchedulerQueueManager().getQueues().values()) {
      if (queue instanceof AbstractLeafQueue) {
        for (FiCaSchedulerApp attempt : ((AbstractLeafQueue) queue).getApplications()) {
          running.add(attempt.getApplicationId());
        }
      }
    }
    facts.activeAre(running);
  }

  Engine engine() {
    return engine;
  }

  Parking parking() {
    return parking;
  }

  /**
   * Puts an application aside, or takes it up again.
   *
   * @return false if Hiatus is off
   */
  boolean park(ApplicationId id, boolean parked) {
    return withCore(facts -> parking.park(id, parked, facts));
  }

  /** The same for one container. */
  boolean park(ContainerId id, boolean parked) {
    return withCore(facts -> parking.park(id, parked, facts));
  }

  private boolean withCore(Consumer<Facts> work) {
    writeLock.lock();
    try {
      Facts facts = engine.facts();
      if (facts != null) {
        work.accept(facts);
      }
      return facts != null;
    } finally {
      writeLock.unlock();
    }
  }

  /** What Hiatus does and why, as JSON. */
  String explain() throws JsonProcessingException {
    writeLock.lock();
    try {
      return engine.explain();
    } finally {
      writeLock.unlock();
    }
  }

  // ---- Telling ----

  private void tellQueues() {
    Facts facts = engine.facts();
    if (facts == null || getRootQueue() == null) {
      return;
    }
    Set<String> paths = new HashSet<>();
    tellQueue(facts, getRootQueue(), paths);
    facts.queuesAre(paths);
  }

  private void tellQueue(Facts facts, CSQueue queue, Set<String> paths) {
    QueueCapacities capacities = queue.getQueueCapacities();
    Map<String, float[]> shares = new HashMap<>();
    for (String partition : capacities.getExistingNodeLabels()) {
      shares.put(partition, new float[] {capacities.getAbsoluteCapacity(partition),
          capacities.getAbsoluteMaximumCapacity(partition)});
    }
    String path = queue.getQueuePath();
    paths.add(path);
    facts.queue(path, queue.getParent() == null ? null : queue.getParent().getQueuePath(),
        isPreemptable(queue), shares);
    List<CSQueue> children = queue.getChildQueues();
    for (CSQueue child : children == null ? Collections.<CSQueue>emptyList() : children) {
      tellQueue(facts, child, paths);
    }
  }

  /** As queues inherit it in CapacityScheduler, whose own preemption, though, need not be on. */
  private boolean isPreemptable(CSQueue queue) {
    boolean above = queue.getParent() == null || isPreemptable(queue.getParent());
    return !getConfiguration().getPreemptionDisabled(queue.getQueuePath(), !above);
  }

  private void tellNode(Facts facts, FiCaSchedulerNode node) {
    if (node == null) {
      return;
    }
    String partition = node.getPartition();
    facts.node(node.getNodeID(), node.getTotalResource(), partition, StockPlacement.isShareable(this, partition),
        canSuspend(node));
  }

  /**
   * The announcement is an attribute of the host, and stays when a NodeManager there goes back to stock; that this very
   * NodeManager has a queue for demoted containers, without which it would not pause but kill, it says with each heartbeat.
   */
  private static boolean canSuspend(FiCaSchedulerNode node) {
    Set<NodeAttribute> attributes = node.getNodeAttributes();
    boolean announced = attributes != null && attributes.stream()
        .anyMatch(attribute -> attribute.getAttributeKey().getAttributeName().equals(SUSPEND_ATTRIBUTE));
    OpportunisticContainersStatus status = node.getRMNode().getOpportunisticContainersStatus();
    return announced && (status == null || status.getOpportQueueCapacity() > 0);
  }

  private void tellContainers(Facts facts, FiCaSchedulerNode node) {
    if (node != null) {
      node.getCopiedListOfRunningContainers()
          .forEach(container -> facts.container(container, container.isAMContainer()));
    }
  }

  private void tellApp(Facts facts, ApplicationId id) {
    SchedulerApplication<FiCaSchedulerApp> application = applications.get(id);
    if (application != null) {
      RMApp rmApp = getRMContext().getRMApps().get(id);
      Set<String> tags = rmApp == null ? null : rmApp.getApplicationTags();
      facts.app(id, path(application.getQueue()), application.getUser(), priority(application),
          tags == null ? Collections.emptySet() : tags);
    }
  }

  private void tellAppChanged(ApplicationId id) {
    SchedulerApplication<FiCaSchedulerApp> application = applications.get(id);
    Facts facts = engine.facts();
    if (application != null && facts != null) {
      facts.appChanged(id, path(application.getQueue()), priority(application));
    }
  }

  private void tellAttemptEnded(Facts facts, AppAttemptRemovedSchedulerEvent event) {
    ApplicationId id = event.getApplicationAttemptID().getApplicationId();
    Set<ContainerId> kept = new HashSet<>();
    FiCaSchedulerApp attempt = attempt(id);
    if (event.getKeepContainersAcrossAppAttempts() && attempt != null) {
      attempt.getLiveContainers().forEach(container -> kept.add(container.getContainerId()));
    }
    facts.attemptEnded(id, event.getKeepContainersAcrossAppAttempts(), kept);
  }

  private void tellCompleted(RMContainer container, ContainerStatus status) {
    Facts facts = engine.facts();
    if (facts != null && container != null) {
      facts.completed(container.getContainerId(), Facts.Exit.of(status.getExitStatus()));
      parking.forget(container.getContainerId());
      // The ask of a container that nobody had fetched yet is wanted again.
      facts.asksChanged(container.getApplicationAttemptId().getApplicationId());
    }
  }

  private static String path(Queue queue) {
    return queue instanceof CSQueue ? ((CSQueue) queue).getQueuePath() : queue.getQueueName();
  }

  private static int priority(SchedulerApplication<FiCaSchedulerApp> application) {
    // CapacityScheduler changes that of the attempt alone.
    FiCaSchedulerApp attempt = application.getCurrentAppAttempt();
    Priority priority = attempt == null ? application.getPriority() : attempt.getPriority();
    return priority == null ? 0 : priority.getPriority();
  }

  private void tickEvery(long intervalMs) {
    while (!Thread.currentThread().isInterrupted()) {
      try {
        Thread.sleep(intervalMs);
        underWriteLock(engine::tick);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void each(List<Container> containers, Consumer<Container> tell) {
    if (containers != null) {
      containers.forEach(tell);
    }
  }

  private void underWriteLock(Runnable work) {
    writeLock.lock();
    try {
      work.run();
    } finally {
      writeLock.unlock();
    }
  }
}
