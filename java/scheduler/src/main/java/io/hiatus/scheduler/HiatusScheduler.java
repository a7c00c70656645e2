package io.hiatus.scheduler;

import io.hiatus.scheduler.apply.CommitObserver;
import io.hiatus.scheduler.apply.ContainerControl;
import io.hiatus.scheduler.apply.DecisionExecutor;
import io.hiatus.scheduler.apply.DecisionLog;
import io.hiatus.scheduler.apply.Drainer;
import io.hiatus.scheduler.apply.PreemptionMonitorGuard;
import io.hiatus.scheduler.cluster.ClusterAccess;
import io.hiatus.scheduler.config.HeartbeatLimits;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.engine.Engine;
import io.hiatus.scheduler.engine.OperatorService;
import io.hiatus.scheduler.facts.CoreFeed;
import io.hiatus.scheduler.facts.EventReporter;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.facts.SnapshotReporter;
import io.hiatus.scheduler.hadoop.HadoopApi;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import io.hiatus.scheduler.state.DemotedUsage;
import io.hiatus.scheduler.state.Demotions;
import io.hiatus.scheduler.state.Parking;
import io.hiatus.scheduler.web.HiatusPages;
import io.hiatus.scheduler.web.HiatusWebService;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.SettableFuture;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.RunningWebApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerDynamicEditException;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.YieldingCapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.conf.CSConfigurationProvider;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.conf.FileBasedCSConfigurationProvider;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.QueueEntitlement;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeLabelsUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSet;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSetUtils;
import org.apache.hadoop.yarn.webapp.WebApp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * CapacityScheduler that asks the Hiatus core who is served next. It tells the core what happens and carries out what
 * the core proposes; queues, limits, access control, labels, recovery and web pages are CapacityScheduler's. There is
 * no policy here.
 */
public class HiatusScheduler extends YieldingCapacityScheduler implements ClusterAccess, OperatorService.Provider {
  private static final Logger LOG = LoggerFactory.getLogger(HiatusScheduler.class);
  /** Stopping and standing by do not wait longer for one of our threads. */
  private static final long STOP_PATIENCE_MS = 2_000;

  // What is not private is looked at by tests.
  final CoreFeed feed = new CoreFeed();
  Demotions demotions;
  private DemotedUsage demotedUsage;
  Parking parking;
  SnapshotReporter reporter;
  private EventReporter events;
  private ContainerControl control;
  private CommitObserver commits;
  private Drainer drainer;
  private PreemptionMonitorGuard preemptionGuard;
  Engine engine;
  private OperatorService operatorService;
  private Services services;
  /** What is in force; read at the start only where it says so. */
  private HiatusConfiguration inForce;

  @Override
  public void serviceInit(Configuration conf) throws Exception {
    HiatusWebService.addTo(conf);
    HiatusMetrics metrics = HiatusMetrics.register(createMetrics());
    DecisionLog log = new DecisionLog(metrics);
    demotions = new Demotions(this, metrics, conf);
    demotedUsage = new DemotedUsage(this, demotions);
    parking = new Parking(this, demotions);
    reporter = new SnapshotReporter(this, demotions, parking);
    events = new EventReporter(this, reporter);
    control = new ContainerControl(this, demotions, parking, metrics, feed);
    commits = new CommitObserver(feed, control);
    drainer = new Drainer(this, demotions, control, log);
    preemptionGuard = new PreemptionMonitorGuard(this, metrics);
    engine = new Engine(this, feed, metrics, reporter, demotions, preemptionGuard, () -> createFacts(demotions::isOurs),
        facts -> new DecisionExecutor(this, facts, metrics, control, demotions, parking, log));
    operatorService = new OperatorService(this, feed, engine, parking, writeLock);
    super.serviceInit(conf);
    underWriteLock(this::configure);
  }

  @Override
  public void serviceStart() throws Exception {
    super.serviceStart();
    underWriteLock(engine::activate);
    services = new Services(this, feed, engine, writeLock, demotions.saver(), inForce);
    services.start(inForce);
    WebApp web = RunningWebApp.of(getRMContext().getResourceManager());
    if (web != null) { // tests have none
      HiatusPages.addTo(web, getRMContext().getResourceManager());
    }
  }

  @Override
  public void serviceStop() throws Exception {
    if (services != null) {
      services.stop(STOP_PATIENCE_MS);
    }
    if (engine != null) {
      underWriteLock(() -> feed.guard(engine::stop));
      engine.awaitRecording(STOP_PATIENCE_MS);
    }
    super.serviceStop();
  }

  @Override
  public void reinitialize(Configuration newConf, RMContext context) throws IOException {
    RuntimeException wrong = Engine.wrong(
        new HiatusConfiguration(provider(context).loadConfiguration(new Configuration(newConf))));
    // One that becomes the active one is told to read its configuration, too: refusing, it would never be.
    if (wrong != null && isInState(STATE.STARTED)) {
      throw new IOException(wrong.getMessage(), wrong);
    }
    super.reinitialize(newConf, context);
    underWriteLock(this::configure);
    feed.tell(facts -> {
      facts.queuesChanged();
      facts.activeChanged();
    });
  }

  /** Where CapacityScheduler takes the queues' configuration from. */
  private CSConfigurationProvider provider(RMContext context) {
    return isConfigurationMutable() ? (CSConfigurationProvider) getMutableConfProvider() : new FileBasedCSConfigurationProvider(context);
  }

  /** A wrong configuration, which there may be when the ResourceManager starts, is as none: stock needs nothing of it. */
  private void configure() {
    HiatusConfiguration conf = new HiatusConfiguration(getConfiguration());
    RuntimeException wrong = Engine.wrong(conf);
    putInForce(wrong == null ? conf : HiatusConfiguration.off());
    if (wrong != null) {
      engine.refuse(wrong);
    }
  }

  private void putInForce(HiatusConfiguration conf) {
    inForce = conf;
    reporter.configure(conf);
    engine.configure(conf);
    drainer.configure(conf);
    preemptionGuard.configure(getConfiguration(), engine.places());
    HeartbeatLimits.tell(getConfiguration(), engine.places());
    // Not refused: it may be created later.
    unknownQueues(conf).forEach(path -> LOG.warn("HIATUS: there is no queue {} now: its properties have no effect", path));
  }

  /** Queues that have properties of Hiatus and do not exist. */
  List<String> unknownQueues(HiatusConfiguration conf) {
    return conf.queues().stream().filter(path -> getQueue(path) == null).collect(Collectors.toList());
  }

  HiatusMetrics createMetrics() {
    return new HiatusMetrics();
  }

  FactWriter createFacts(Predicate<ContainerId> isOurs) {
    return new FactWriter(countsMemoryOnly(), isOurs);
  }

  // ---- What happens, told to the core ----

  @Override
  public void handle(SchedulerEvent event) {
    if (preemptionGuard.refuses(event, engine.places())) {
      return;
    }
    if (event.getType() == SchedulerEventType.NODE_LABELS_UPDATE) {
      underWriteLock(() -> relabel((NodeLabelsUpdateSchedulerEvent) event));
    } else {
      super.handle(event);
    }
    feed.guard(() -> demotions.hear(event));
    feed.tell(facts -> underWriteLock(() -> events.tell(facts, event)));
  }

  private void relabel(NodeLabelsUpdateSchedulerEvent event) {
    Map<ContainerId, String> partitions = new HashMap<>();
    feed.guard(() -> partitions.putAll(demotedUsage.partitions(event.getUpdatedNodeToLabels().keySet())));
    super.handle(event);
    feed.guard(() -> demotedUsage.relabelled(partitions));
  }

  @Override
  public Allocation allocate(ApplicationAttemptId id, List<ResourceRequest> ask,
      List<SchedulingRequest> schedulingRequests, List<ContainerId> release, List<String> blacklistAdditions,
      List<String> blacklistRemovals, ContainerUpdates updateRequests) {
    Allocation allocation = super.allocate(id, ask, schedulingRequests, release, blacklistAdditions,
        blacklistRemovals, updateRequests);
    feed.guard(() -> {
      control.finishPendingUpdates(getApplicationAttempt(id), allocation);
      demotions.withholdLent(allocation);
    });
    // Most calls change nothing, and come often.
    if (isAny(ask) || isAny(schedulingRequests) || isAny(blacklistAdditions) || isAny(blacklistRemovals) || updateRequests != null
        && (isAny(updateRequests.getIncreaseRequests()) || isAny(updateRequests.getPromotionRequests()))) {
      feed.tell(facts -> facts.asksChanged(id.getApplicationId()));
    }
    tellResized(allocation.getIncreasedContainers());
    tellResized(allocation.getDecreasedContainers());
    return allocation;
  }

  private void tellResized(List<Container> containers) {
    if (isAny(containers)) {
      feed.tell(facts -> containers.forEach(container -> facts.resized(getRMContainer(container.getId()))));
    }
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public boolean tryCommit(Resource cluster, ResourceCommitRequest request, boolean updatePending) {
    return commits.commit(request, () -> super.tryCommit(cluster, request, updatePending));
  }

  /** Commits, which takes back what the proposal added to the unconfirmed, unless it fails half-way. */
  @Override
  public boolean commit(FiCaSchedulerApp attempt, ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    boolean came = false;
    try {
      boolean committed = tryCommit(getClusterResource(), request, true);
      came = true;
      return committed;
    } finally {
      if (!came) {
        attempt.decUnconfirmedRes(request.getTotalAllocatedResource());
      }
    }
  }

  /** What Hiatus changes goes to the node without the application's help; for the rest it is as configured. */
  @Override
  public boolean shouldContainersBeAutoUpdated() {
    return control.updatesNodes() || super.shouldContainersBeAutoUpdated();
  }

  @Override
  protected void containerLaunchedOnNode(ContainerId id, SchedulerNode node) {
    super.containerLaunchedOnNode(id, node);
    feed.tell(facts -> facts.launched(id));
  }

  @Override
  public void completedContainer(RMContainer container, ContainerStatus status, RMContainerEventType event) {
    super.completedContainer(container, status, event);
    if (container != null) {
      if (container.getExecutionType() == ExecutionType.OPPORTUNISTIC) { // the others' ends are told by completedContainerInternal
        control.ended(container, status);
      }
      if (container.getContainerRequest() != null) { // nobody had fetched it: its ask is wanted again
        feed.tell(facts -> facts.asksChanged(container.getApplicationAttemptId().getApplicationId()));
      }
    }
  }

  /** Some of CapacityScheduler's own paths to a container's end do not pass completedContainer of this class. */
  @Override
  protected void completedContainerInternal(RMContainer container, ContainerStatus status, RMContainerEventType event) {
    super.completedContainerInternal(container, status, event);
    control.ended(container, status);
  }

  @Override
  public String moveApplication(ApplicationId id, String target) throws YarnException {
    String moved = moveLocked(id, target);
    feed.tell(facts -> {
      underWriteLock(() -> reporter.appChanged(facts, id));
      facts.activeChanged();
    });
    return moved;
  }

  private String moveLocked(ApplicationId id, String target) throws YarnException {
    writeLock.lock();
    try {
      FiCaSchedulerApp attempt = attempt(id);
      QueueMetrics from = attempt == null ? null : attempt.getQueue().getMetrics();
      String moved = super.moveApplication(id, target);
      if (from != null) {
        feed.guard(() -> demotedUsage.moved(id, from));
      }
      return moved;
    } finally {
      writeLock.unlock();
    }
  }

  @Override
  public Priority updateApplicationPriority(Priority priority, ApplicationId id,
      SettableFuture<Object> future, UserGroupInformation user) throws YarnException {
    Priority updated = super.updateApplicationPriority(priority, id, future, user);
    feed.tell(facts -> underWriteLock(() -> reporter.appChanged(facts, id)));
    return updated;
  }

  // A ReservationSystem changes queues without an event.

  @Override
  public void addQueue(Queue queue) throws SchedulerDynamicEditException, IOException {
    super.addQueue(queue);
    feed.tell(FactWriter::queuesChanged);
  }

  @Override
  public void removeQueue(String name) throws SchedulerDynamicEditException {
    super.removeQueue(name);
    feed.tell(FactWriter::queuesChanged);
  }

  @Override
  public void setEntitlement(String queue, QueueEntitlement entitlement) throws YarnException {
    super.setEntitlement(queue, entitlement);
    feed.tell(FactWriter::queuesChanged);
  }

  // ---- Who places ----

  @Override
  protected boolean yields() {
    return engine.places();
  }

  @Override
  protected boolean mayPlace(CandidateNodeSet<FiCaSchedulerNode> on) {
    if (yields()) {
      return false;
    }
    // What is suspended on a node comes before anything new there; where stock looks at many, heartbeats see to that.
    FiCaSchedulerNode node = CandidateNodeSetUtils.getSingleNode(on);
    if (node != null && drainer.isNeeded()) {
      underWriteLock(() -> drain(node));
    }
    return true;
  }

  private void drain(FiCaSchedulerNode node) {
    if (isReady()) {
      feed.guard(() -> drainer.drain(node));
    }
  }

  @Override
  protected void nodeUpdate(RMNode rmNode) {
    super.nodeUpdate(rmNode);
    underWriteLock(() -> {
      FiCaSchedulerNode node = getNode(rmNode.getNodeID());
      // Until it is ready nothing takes what would be told with every heartbeat.
      if (node != null && isReady()) {
        feed.tell(facts -> reporter.heartbeat(facts, node, rmNode));
        if (engine.step() && services != null) {
          services.wake();
        }
        if (!engine.places()) {
          drain(node);
        } else {
          drainer.reset();
          dropReservation(node); // a thread of asynchronous scheduling may have proposed it before it had to yield
        }
      }
    });
  }

  // ---- What our own parts need of the scheduler ----

  @Override
  public void update(SchedulerApplicationAttempt attempt, ContainerUpdates updates) {
    handleContainerUpdates(attempt, updates);
  }

  @Override
  public CapacitySchedulerConfiguration getQueueConfiguration() {
    return HadoopApi.queueConfiguration(this);
  }

  @Override
  public OperatorService operatorService() {
    return operatorService;
  }

  private static boolean isAny(List<?> list) {
    return list != null && !list.isEmpty();
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
