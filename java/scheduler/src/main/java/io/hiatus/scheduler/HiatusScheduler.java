package io.hiatus.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.util.List;
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
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSAssignment;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
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
  private final StockPlacement stock = new StockPlacement(this);
  private final Teller teller = new Teller(this);
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
      if (engine.facts() != null) {
        teller.queues(engine.facts());
        teller.active(engine.facts());
      }
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
          teller.node(facts, getNode(added));
          teller.containers(facts, getNode(added));
          teller.queues(facts);
          teller.active(facts);
        });
        break;
      case NODE_REMOVED:
        facts.nodeRemoved(((NodeRemovedSchedulerEvent) event).getRemovedRMNode().getNodeID());
        teller.queues(facts);
        break;
      case NODE_RESOURCE_UPDATE:
        NodeId resized = ((NodeResourceUpdateSchedulerEvent) event).getRMNode().getNodeID();
        underWriteLock(() -> {
          teller.node(facts, getNode(resized));
          teller.queues(facts);
        });
        break;
      case NODE_ATTRIBUTES_UPDATE:
        Set<String> hosts = ((NodeAttributesUpdateSchedulerEvent) event).getUpdatedNodeToAttributes().keySet();
        underWriteLock(() -> hosts.forEach(host -> getNodeIds(host).forEach(id -> teller.node(facts, getNode(id)))));
        break;
      case NODE_LABELS_UPDATE:
        underWriteLock(() -> {
          getAllNodes().forEach(node -> teller.node(facts, node));
          teller.queues(facts);
        });
        break;
      case APP_ADDED:
        teller.queues(facts);
        underWriteLock(() -> teller.app(facts, ((AppAddedSchedulerEvent) event).getApplicationId()));
        break;
      case APP_ATTEMPT_ADDED:
        ApplicationId attempted = ((AppAttemptAddedSchedulerEvent) event).getApplicationAttemptId().getApplicationId();
        facts.asksChanged(attempted);
        teller.active(facts);
        break;
      case APP_ATTEMPT_REMOVED:
        teller.attemptEnded(facts, (AppAttemptRemovedSchedulerEvent) event);
        teller.active(facts);
        break;
      case APP_REMOVED:
        facts.appRemoved(((AppRemovedSchedulerEvent) event).getApplicationID());
        teller.active(facts);
        break;
      case MANAGE_QUEUE:
      case AUTO_QUEUE_DELETION:
        teller.queues(facts);
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
    Facts facts = engine.facts();
    if (facts != null) {
      teller.appChanged(facts, id);
      teller.active(facts);
    }
    return moved;
  }

  @Override
  public Priority updateApplicationPriority(Priority priority, ApplicationId id,
      SettableFuture<Object> future, UserGroupInformation user) throws YarnException {
    Priority updated = super.updateApplicationPriority(priority, id, future, user);
    Facts facts = engine.facts();
    if (facts != null) {
      teller.appChanged(facts, id);
    }
    return updated;
  }

  @Override
  protected void nodeUpdate(RMNode rmNode) {
    super.nodeUpdate(rmNode);
    underWriteLock(() -> {
      FiCaSchedulerNode node = getNode(rmNode.getNodeID());
      Facts facts = engine.facts();
      if (node != null && facts != null) {
        teller.heartbeat(facts, node, rmNode);
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

  Engine engine() {
    return engine;
  }

  Teller teller() {
    return teller;
  }

  Parking parking() {
    return parking;
  }

  /**
   * Puts an application aside, or takes it up again.
   *
   * @return false if Hiatus is off
   * @throws IllegalArgumentException if it does not run
   * @throws java.io.UncheckedIOException if the state store does not keep it; nothing has changed then
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

  private void tellCompleted(RMContainer container, ContainerStatus status) {
    Facts facts = engine.facts();
    if (facts != null && container != null) {
      teller.completed(facts, container, status);
      parking.forget(container.getContainerId());
    }
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
