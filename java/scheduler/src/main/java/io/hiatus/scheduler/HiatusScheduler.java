package io.hiatus.scheduler;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.SettableFuture;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.RunningWebApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.YieldingCapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.SchedulerContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.ContainerPreemptEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeLabelsUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSet;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSetUtils;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.apache.hadoop.yarn.webapp.WebApp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * CapacityScheduler that asks the Hiatus core who is served next. It tells the core what happens and carries out what
 * the core proposes; queues, limits, access control, labels, recovery and web pages are CapacityScheduler's. There is
 * no policy here.
 */
public class HiatusScheduler extends YieldingCapacityScheduler {
  private static final Logger LOG = LoggerFactory.getLogger(HiatusScheduler.class);
  private static final long WATCH_MS = 1_000;
  /** Stopping and standing by do not wait longer for one of our threads. */
  private static final long STOP_PATIENCE_MS = 2_000;

  private final Teller teller = new Teller(this);
  private final EventTeller events = new EventTeller(this, teller);
  private final Parking parking = new Parking(this);
  private final Object explaining = new Object();
  private HiatusMetrics metrics;
  private Demotions demotions;
  private Uncounted uncounted;
  private ContainerControl control;
  private DecisionLog decisionLog;
  private Drainer drainer;
  private Engine engine;
  private StockPreemption stockPreemption;
  private Ticker ticker;
  private Thread watchdog;
  private ProgressPoller poller;
  private ReportReceiver receiver;
  /** What is in force; read at the start only where it says so. */
  private HiatusConfiguration inForce;
  private volatile Sides sides;

  @Override
  public void serviceInit(Configuration conf) throws Exception {
    // A set: a ResourceManager that becomes active again makes a new scheduler from the same configuration.
    Set<String> pages = new TreeSet<>(conf.getTrimmedStringCollection(YarnConfiguration.YARN_HTTP_WEBAPP_EXTERNAL_CLASSES));
    pages.add(HiatusWebService.class.getName());
    conf.setStrings(YarnConfiguration.YARN_HTTP_WEBAPP_EXTERNAL_CLASSES, pages.toArray(new String[0]));
    metrics = HiatusMetrics.register(createMetrics());
    decisionLog = new DecisionLog(metrics);
    demotions = new Demotions(this, metrics, conf);
    uncounted = new Uncounted(this, demotions);
    control = new ContainerControl(this, demotions, metrics);
    drainer = new Drainer(this, demotions, control, decisionLog);
    engine = new Engine(this, metrics);
    stockPreemption = new StockPreemption(metrics);
    super.serviceInit(conf);
    underWriteLock(this::configure);
  }

  @Override
  public void serviceStart() throws Exception {
    super.serviceStart();
    underWriteLock(engine::activate);
    HiatusConfiguration conf = inForce;
    ticker = new Ticker(conf.stepIntervalMs(), () -> locked(engine::tick));
    ticker.start();
    watchdog = new Thread(this::watch, "HiatusWatchdog");
    watchdog.setDaemon(true);
    watchdog.start();
    if (demotions.saver() != null) {
      demotions.saver().start();
    }
    startReceiver(conf.reportAddress());
    if (conf.progressIntervalMs() > 0) {
      poller = new ProgressPoller(this::apps, engine::facts, id -> receiver != null && receiver.hears(id),
          id -> MasterTls.of(getRMContext().getProxyCAManager().getProxyCA(), id), conf);
      poller.start();
    }
    WebApp web = RunningWebApp.of(getRMContext().getResourceManager());
    if (web != null) { // tests have none
      HiatusPages.addTo(web, getRMContext().getResourceManager());
    }
  }

  /** Without it jobs are asked, or nothing is known of their tasks: nothing that the ResourceManager should not start for. */
  private void startReceiver(InetSocketAddress address) {
    if (address == null) {
      return;
    }
    try {
      receiver = new ReportReceiver(address, getRMContext().getAMRMTokenSecretManager(), this::containersOf, engine::facts,
          Time::monotonicNow);
      receiver.start();
    } catch (IOException e) {
      LOG.error("HIATUS: jobs cannot report on {} ({})", address, HiatusConfiguration.REPORT_PORT, e);
    }
  }

  private int containersOf(ApplicationAttemptId id) {
    SchedulerApplicationAttempt attempt = getApplicationAttempt(id);
    return attempt == null || !attempt.getApplicationAttemptId().equals(id) ? -1 : attempt.getLiveContainersMap().size();
  }

  @Override
  public void serviceStop() throws Exception {
    if (poller != null) {
      poller.end();
    }
    if (receiver != null) {
      receiver.end();
    }
    for (Thread thread : new Thread[] {ticker, watchdog, poller, receiver}) {
      end(thread);
    }
    if (demotions != null && demotions.saver() != null) {
      demotions.saver().end();
      demotions.saver().join(STOP_PATIENCE_MS);
      end(demotions.saver());
    }
    if (engine != null) {
      underWriteLock(() -> engine.guard(engine::stop));
      engine.awaitRecording(STOP_PATIENCE_MS);
    }
    super.serviceStop();
  }

  private static void end(Thread thread) throws InterruptedException {
    if (thread != null) {
      thread.interrupt();
      thread.join(STOP_PATIENCE_MS); // whoever is late finds no core, and nobody who listens
    }
  }

  @Override
  public void reinitialize(Configuration newConf, RMContext context) throws IOException {
    RuntimeException wrong = Engine.wrong(
        new HiatusConfiguration(getCsConfProvider().loadConfiguration(new Configuration(newConf))));
    // One that becomes the active one is told to read its configuration, too: refusing, it would never be.
    if (wrong != null && isInState(STATE.STARTED)) {
      throw new IOException(wrong.getMessage(), wrong);
    }
    super.reinitialize(newConf, context);
    underWriteLock(this::configure);
    tell(facts -> {
      facts.queuesChanged();
      facts.activeChanged();
    });
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
    // Each node is told anew with its next heartbeat if it is on another side now.
    sides = new Sides(conf);
    engine.configure(conf);
    drainer.configure(conf);
    stockPreemption.configure(getConfiguration(), engine.places());
    HeartbeatLimits.tell(getConfiguration(), engine.places());
    // Not refused: it may be created later.
    unknownQueues(conf).forEach(path -> LOG.warn("HIATUS: there is no queue {} now: its properties have no effect", path));
  }

  /** Queues that have properties of Hiatus and do not exist. */
  List<String> unknownQueues(HiatusConfiguration conf) {
    return conf.queues().stream().filter(path -> getQueue(path) == null).collect(Collectors.toList());
  }

  /** Which nodes are on which side of a mixed cluster. */
  Sides sides() {
    return sides;
  }

  HiatusMetrics createMetrics() {
    return new HiatusMetrics();
  }

  String hadoopVersion() {
    return VersionInfo.getVersion();
  }

  Facts createFacts() {
    return new Facts(countsMemoryOnly(), demotions::isOurs);
  }

  // ---- What happens, told to the core ----

  @Override
  public void handle(SchedulerEvent event) {
    if (isStockPreemption(event)) {
      stockPreemption.refused(((ContainerPreemptEvent) event).getContainer().getContainerId());
      return;
    }
    if (event.getType() == SchedulerEventType.NODE_LABELS_UPDATE) {
      underWriteLock(() -> relabel((NodeLabelsUpdateSchedulerEvent) event));
    } else {
      super.handle(event);
    }
    engine.guard(() -> demotions.hear(event));
    tell(facts -> underWriteLock(() -> events.tell(facts, event)));
  }

  private void relabel(NodeLabelsUpdateSchedulerEvent event) {
    Map<ContainerId, String> partitions = new HashMap<>();
    engine.guard(() -> partitions.putAll(uncounted.partitions(event.getUpdatedNodeToLabels().keySet())));
    super.handle(event);
    engine.guard(() -> uncounted.relabelled(partitions));
  }

  /**
   * Whether it is an order that is not carried out. While Hiatus places that is what CapacityScheduler's preemption orders. What a
   * node orders that its administrator made smaller than what runs there, with a time-out, looks alike and is none; but a node
   * that is being decommissioned is never too full: its total follows, a heartbeat late, what goes on there.
   */
  private boolean isStockPreemption(SchedulerEvent event) {
    if (event.getType() != SchedulerEventType.MARK_CONTAINER_FOR_PREEMPTION
        && event.getType() != SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE) {
      return false;
    }
    FiCaSchedulerNode node = getNode(((ContainerPreemptEvent) event).getContainer().getAllocatedNode());
    boolean tooFull = node != null && node.isOvercommitTimeOutSet()
        && !Resources.fitsIn(getResourceCalculator(), Resources.none(), node.getUnallocatedResource());
    return tooFull ? node.getRMNode().getState() == NodeState.DECOMMISSIONING : engine.places();
  }

  @Override
  public Allocation allocate(ApplicationAttemptId id, List<ResourceRequest> ask,
      List<SchedulingRequest> schedulingRequests, List<ContainerId> release, List<String> blacklistAdditions,
      List<String> blacklistRemovals, ContainerUpdates updateRequests) {
    Allocation allocation = super.allocate(id, ask, schedulingRequests, release, blacklistAdditions,
        blacklistRemovals, updateRequests);
    engine.guard(() -> {
      control.complete(getApplicationAttempt(id), allocation);
      withhold(allocation, demotions.lentAndFree());
    });
    // Most calls change nothing, and come often.
    if (isAny(ask) || isAny(schedulingRequests) || isAny(blacklistAdditions) || isAny(blacklistRemovals) || updateRequests != null
        && (isAny(updateRequests.getIncreaseRequests()) || isAny(updateRequests.getPromotionRequests()))) {
      tell(facts -> facts.asksChanged(id.getApplicationId()));
    }
    tellResized(allocation.getIncreasedContainers());
    tellResized(allocation.getDecreasedContainers());
    return allocation;
  }

  /** Tells the application of less room than there is (its headroom): MapReduce would ask for reduces that may not start there. */
  private static void withhold(Allocation allocation, Resource room) {
    if (allocation.getResourceLimit() != null && !Resources.isNone(room)) {
      allocation.setResourceLimit(Resources.subtractNonNegative(allocation.getResourceLimit(), room));
    }
  }

  private void tellResized(List<Container> containers) {
    if (isAny(containers)) {
      tell(facts -> containers.forEach(container -> facts.resized(getRMContainer(container.getId()))));
    }
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public boolean tryCommit(Resource cluster, ResourceCommitRequest request, boolean updatePending) {
    ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> typed = request;
    boolean[] forMaster = new boolean[1];
    tell(facts -> forMaster[0] = allocates(typed) && allocated(typed).getSchedulerApplicationAttempt().isWaitingForAMContainer());
    boolean promotesOurs = control.promotesOurs(typed);
    if (promotesOurs) {
      engine.guard(() -> control.settle(allocated(typed).getSchedulerApplicationAttempt()));
    }
    boolean committed = super.tryCommit(cluster, request, updatePending);
    if (committed && promotesOurs) {
      engine.guard(() -> control.completePromotions(allocated(typed).getSchedulerApplicationAttempt()));
    }
    if (committed) {
      tell(facts -> {
        if (allocates(typed)) {
          RMContainer container = allocated(typed).getRmContainer();
          if (Facts.isHolder(container)) {
            facts.asksChanged(container.getApplicationAttemptId().getApplicationId());
          } else {
            facts.container(container, forMaster[0]);
          }
        }
      });
    }
    return committed;
  }

  private static boolean allocates(ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    return !request.getContainersToAllocate().isEmpty();
  }

  private static SchedulerContainer<FiCaSchedulerApp, FiCaSchedulerNode> allocated(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    return request.getFirstAllocatedOrReservedContainer().getAllocatedOrReservedContainer();
  }

  /** Commits, which takes back what the proposal added to the unconfirmed, unless it fails half-way. */
  boolean commit(FiCaSchedulerApp attempt, ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
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
    tell(facts -> facts.launched(id));
  }

  @Override
  public void completedContainer(RMContainer container, ContainerStatus status, RMContainerEventType event) {
    super.completedContainer(container, status, event);
    if (container != null) {
      if (container.getExecutionType() == ExecutionType.OPPORTUNISTIC) { // the others' ends were told below
        tellCompleted(container, status);
      }
      if (container.getContainerRequest() != null) { // nobody had fetched it: its ask is wanted again
        tell(facts -> facts.asksChanged(container.getApplicationAttemptId().getApplicationId()));
      }
    }
  }

  /** Some of CapacityScheduler's own paths to a container's end do not pass completedContainer of this class. */
  @Override
  protected void completedContainerInternal(RMContainer container, ContainerStatus status, RMContainerEventType event) {
    super.completedContainerInternal(container, status, event);
    tellCompleted(container, status);
  }

  @Override
  public String moveApplication(ApplicationId id, String target) throws YarnException {
    String moved = moveLocked(id, target);
    tell(facts -> {
      underWriteLock(() -> teller.appChanged(facts, id));
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
        engine.guard(() -> uncounted.moved(id, from));
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
    tell(facts -> underWriteLock(() -> teller.appChanged(facts, id)));
    return updated;
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
      engine.guard(() -> drainer.drain(node));
    }
  }

  @Override
  protected void nodeUpdate(RMNode rmNode) {
    super.nodeUpdate(rmNode);
    underWriteLock(() -> {
      FiCaSchedulerNode node = getNode(rmNode.getNodeID());
      // Until it is ready nothing takes what would be told with every heartbeat.
      if (node != null && isReady()) {
        tell(facts -> teller.heartbeat(facts, node, rmNode));
        if (engine.step() && ticker != null) {
          ticker.wake();
        }
        if (!engine.places()) {
          drain(node);
        } else {
          drainer.rest();
          dropReservation(node); // a thread of asynchronous scheduling may have proposed it before it had to yield
        }
      }
    });
  }

  // ---- What the engine needs of the scheduler ----

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
    getAllNodes().forEach(this::dropReservation);
  }

  private void dropReservation(FiCaSchedulerNode node) {
    if (node.getReservedContainer() != null) {
      killReservedContainer(node.getReservedContainer());
    }
  }

  Engine engine() {
    return engine;
  }

  Demotions demotions() {
    return demotions;
  }

  ContainerControl control() {
    return control;
  }

  DecisionLog decisionLog() {
    return decisionLog;
  }

  StockPreemption stockPreemption() {
    return stockPreemption;
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
    boolean there = locked(() -> {
      Facts facts = engine.facts();
      if (facts != null) {
        work.accept(facts);
      }
      return facts != null;
    });
    engine.explainer().forget();
    return there;
  }

  /** What Hiatus does and why, now or a moment ago: mostly without the scheduler's lock. */
  Explanation explained() {
    Explanation latest = engine.explainer().latest();
    if (latest == null) {
      // Of many who ask at once one takes the scheduler's lock.
      synchronized (explaining) {
        latest = engine.explainer().latest();
        return latest == null ? explainNow() : latest;
      }
    }
    return latest;
  }

  /** What it does and why at this moment. */
  Explanation explainNow() {
    return locked(engine::explain);
  }

  private void tellCompleted(RMContainer container, ContainerStatus status) {
    if (container != null) {
      engine.guard(() -> {
        if (demotions.isOurs(container.getContainerId())) {
          control.takeBackPromotion(container);
        }
        demotions.forget(container.getContainerId());
      });
      tell(facts -> {
        facts.completed(container.getContainerId(), Facts.Exit.of(status.getExitStatus()));
        parking.forget(container.getContainerId());
      });
    }
  }

  /** Tells the core, if it listens. */
  void tell(Consumer<Facts> telling) {
    Facts facts = engine.facts();
    if (facts != null) {
      engine.guard(() -> telling.accept(facts));
    }
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(WATCH_MS);
        engine.watch();
      }
    } catch (InterruptedException e) {
      // The scheduler stops.
    }
  }

  private static boolean isAny(List<?> list) {
    return list != null && !list.isEmpty();
  }

  private void underWriteLock(Runnable work) {
    locked(() -> {
      work.run();
      return true;
    });
  }

  private <T> T locked(Supplier<T> work) {
    writeLock.lock();
    try {
      return work.get();
    } finally {
      writeLock.unlock();
    }
  }
}
