package io.hiatus.scheduler;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.engine.Engine;
import io.hiatus.scheduler.engine.EngineOf;
import io.hiatus.scheduler.facts.CoreFeed;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.facts.SnapshotReporter;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import io.hiatus.scheduler.state.Demotions;
import io.hiatus.scheduler.state.Parking;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.test.GenericTestUtils;
import org.apache.hadoop.test.MetricsAsserts;
import org.apache.hadoop.yarn.api.protocolrecords.GetNewApplicationRequest;
import org.apache.hadoop.yarn.api.protocolrecords.SubmitApplicationRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.RMStateStore;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeDecommissioningEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeResourceUpdateEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.slf4j.event.Level;

/**
 * A ResourceManager with Hiatus as its scheduler, whose nodes and applications move only when told to, so that a test is
 * a sequence of heartbeats. The guards against hasty preemption are off unless a test sets them.
 */
public final class MockCluster implements AutoCloseable {
  /** Hiatus, with its parts and the scheduler's lock in a test's reach. */
  public static class OpenScheduler extends HiatusScheduler {
    public Engine engine() {
      return engine;
    }

    public CoreFeed feed() {
      return feed;
    }

    public Demotions demotions() {
      return demotions;
    }

    public Parking parking() {
      return parking;
    }

    public SnapshotReporter teller() {
      return reporter;
    }

    @Override
    public void nodeUpdate(RMNode node) {
      super.nodeUpdate(node);
    }

    public <T> T locked(Supplier<T> work) {
      writeLock.lock();
      try {
        return work.get();
      } finally {
        writeLock.unlock();
      }
    }
  }

  public static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final String CAPACITY = "yarn.scheduler.capacity.";

  private final Configuration conf;
  private final File scratch;
  private final Map<NodeId, FakeNode> nodes = new LinkedHashMap<>();
  private final List<FakeApp> apps = new ArrayList<>();
  private int hosts;
  private MockRM rm;

  private MockCluster(Configuration conf, File scratch) throws Exception {
    this.conf = conf;
    this.scratch = scratch;
    RMStateStore store = new FakeStore();
    store.init(conf);
    store.start();
    rm = begin(store);
  }

  /** Nobody but the administrator and an application's own user may see or change it. */
  public static void withAccessControl(Configuration conf) {
    conf.setBoolean(YarnConfiguration.YARN_ACL_ENABLE, true);
    conf.set(YarnConfiguration.YARN_ADMIN_ACL, "admin");
    conf.set(queue("root", "acl_administer_queue"), " ");
    conf.set(queue("root.default", "acl_administer_queue"), " ");
  }

  /** One queue, root.default, and mode suspend; {@code more} may change everything. */
  public static MockCluster with(Consumer<Configuration> more) throws Exception {
    File scratch = Files.createTempDirectory("hiatus-test").toFile();
    YarnConfiguration conf = new YarnConfiguration();
    conf.set("hadoop.tmp.dir", scratch.getPath());
    conf.set(YarnConfiguration.FS_NODE_ATTRIBUTE_STORE_ROOT_DIR, new File(scratch, "attributes").toURI().toString());
    conf.set(YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR, new File(scratch, "labels").toURI().toString());
    conf.setClass(YarnConfiguration.RM_SCHEDULER, OpenScheduler.class, HiatusScheduler.class);
    conf.setBoolean(YarnConfiguration.RECOVERY_ENABLED, true);
    conf.setBoolean(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_ENABLED, true);
    conf.setLong(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_SCHEDULING_WAIT_MS, 0);
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 256);
    // Only heartbeats make steps.
    conf.setLong(HiatusConfiguration.STEP_INTERVAL_MS, 10_000);
    conf.setLong(HiatusConfiguration.BOOKS_INTERVAL_MS, 3_600_000);
    conf.set(hiatus("policy"), "srpt");
    conf.set(hiatus("plan-interval-ms"), "0");
    conf.set(hiatus("min-run-ms"), "0");
    conf.set(hiatus("min-resumed-ms"), "0");
    conf.set(hiatus("large-ask-delay-ms"), "0");
    queues(conf, "root", "default", 100);
    conf.set(CAPACITY + "maximum-am-resource-percent", "1");
    conf.set(CAPACITY + "node-locality-delay", "-1");
    more.accept(conf);
    return new MockCluster(conf, scratch);
  }

  public static MockCluster plain() throws Exception {
    return with(conf -> { });
  }

  /** The whole name of a cluster-wide property of Hiatus. */
  public static String hiatus(String knob) {
    return HiatusConfiguration.PREFIX + knob;
  }

  /** The whole name of a queue's property. */
  public static String queue(String path, String property) {
    return CAPACITY + path + "." + property;
  }

  /** Gives a parent queue children: name, guaranteed percentage, and so on. */
  public static void queues(Configuration conf, String parent, Object... namesAndPercentages) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < namesAndPercentages.length; i += 2) {
      String name = (String) namesAndPercentages[i];
      names.add(name);
      String path = parent + "." + name;
      conf.set(queue(path, "capacity"), namesAndPercentages[i + 1].toString());
      conf.set(queue(path, "maximum-capacity"), "100");
      conf.set(queue(path, "user-limit-factor"), "100");
    }
    conf.set(queue(parent, "queues"), String.join(",", names));
  }

  private MockRM begin(RMStateStore store) throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true);
    MockRM manager = new MockRM(conf, store);
    GenericTestUtils.setRootLogLevel(Level.WARN);
    manager.start();
    return manager;
  }

  // ---- What it is ----

  public MockRM rm() {
    return rm;
  }

  public Configuration conf() {
    return conf;
  }

  public RMContext context() {
    return rm.getRMContext();
  }

  public OpenScheduler scheduler() {
    return (OpenScheduler) rm.getResourceScheduler();
  }

  public Engine engine() {
    return scheduler().engine();
  }

  /** What the core is told by, or null while nobody listens. */
  public FactWriter facts() {
    return scheduler().feed().facts();
  }

  /** A counter as every metrics sink sees it. */
  public static long counter(String name) {
    return MetricsAsserts.getLongCounter(name, MetricsAsserts.getMetrics(HiatusMetrics.NAME));
  }

  /** A gauge as every metrics sink sees it. */
  public static int gauge(String name) {
    return MetricsAsserts.getIntGauge(name, MetricsAsserts.getMetrics(HiatusMetrics.NAME));
  }

  public FakeNode node(NodeId id) {
    return nodes.get(id);
  }

  public FiCaSchedulerNode schedulerNode(FakeNode node) {
    return scheduler().getNode(node.id());
  }

  public RMContainer container(ContainerId id) {
    return scheduler().getRMContainer(id);
  }

  /** The application's live containers without its master's, fetched or not. */
  public List<ContainerId> liveTasks(FakeApp app) {
    return attempt(app).getLiveContainers().stream().filter(container -> !container.isAMContainer())
        .map(RMContainer::getContainerId).sorted().collect(Collectors.toList());
  }

  public FiCaSchedulerApp attempt(FakeApp app) {
    return scheduler().attempt(app.id());
  }

  // ---- What happens in it ----

  /** A node joins that can suspend containers. */
  public FakeNode node(int memoryMb, int vcores) throws Exception {
    return join(new FakeNode(freshHost(), memoryMb, vcores, true));
  }

  /** A node joins that cannot. */
  public FakeNode nodeWithoutSuspension(int memoryMb, int vcores) throws Exception {
    return join(new FakeNode(freshHost(), memoryMb, vcores, false));
  }

  /** One that can suspend, and whose machine says how much swap it has. */
  public FakeNode nodeWithSwap(int memoryMb, int vcores, int swapMb) throws Exception {
    return join(new FakeNode(freshHost(), memoryMb, vcores, true).withSwap(swapMb));
  }

  /** An address that needs no name server. */
  public String freshHost() {
    return "127.0.0." + (++hosts);
  }

  public FakeNode join(FakeNode node) throws Exception {
    nodes.put(node.id(), node);
    node.register(rm.getResourceTrackerService());
    settle();
    node.beat();
    settle();
    return node;
  }

  /** An application with a master of 256 MB, which is started as soon as it gets its container. */
  public FakeApp submit(String queue, String user) throws Exception {
    return submit(builder(queue, user).build());
  }

  /** Of a type that may be suspended. */
  public MockRMAppSubmissionData.Builder builder(String queue, String user) throws IOException {
    return MockRMAppSubmissionData.Builder.createWithMemory(256, rm).withAppName(queue + "-app").withAppType("SPARK").withUser(user)
        .withQueue(queue).withWaitForAppAcceptedState(false).withUnmanagedAM(false);
  }

  public FakeApp submit(MockRMAppSubmissionData data) throws Exception {
    return accepted(MockRMAppSubmitter.submit(rm, data));
  }

  /** The same with whatever else a submission may say. */
  public FakeApp submit(String queue, Consumer<ApplicationSubmissionContext> more) throws Exception {
    ApplicationId id = rm.getClientRMService().getNewApplication(GetNewApplicationRequest.newInstance()).getApplicationId();
    ApplicationSubmissionContext context = ApplicationSubmissionContext.newInstance(id, queue + "-app", queue, Priority.newInstance(0),
        ContainerLaunchContext.newInstance(null, null, null, null, null, null), false, false, 2, Resource.newInstance(256, 1));
    more.accept(context);
    rm.getClientRMService().submitApplication(SubmitApplicationRequest.newInstance(context));
    return accepted(context().getRMApps().get(id));
  }

  private FakeApp accepted(RMApp submitted) throws Exception {
    FakeApp app = new FakeApp(this, submitted);
    apps.add(app);
    rm.waitForState(app.id(), RMAppState.ACCEPTED);
    settle();
    return app;
  }

  /** Submits, and beats until the master runs. */
  public FakeApp run(String queue) throws Exception {
    return started(submit(queue, "user"));
  }

  public FakeApp started(FakeApp app) throws Exception {
    until("the master has its container", () -> {
      beat();
      return app.app().getCurrentAppAttempt().getMasterContainer() != null;
    });
    return app.startMaster();
  }

  /** Every node beats once, in the order in which they joined. */
  public void beat() throws Exception {
    for (FakeNode node : new ArrayList<>(nodes.values())) {
      node.beat();
      settle();
    }
  }

  /** So many rounds of heartbeats, after each of which every master fetches what it got. */
  public void rounds(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      beat();
      for (FakeApp app : apps) {
        if (app.hasMaster() && app.app().getState() == RMAppState.RUNNING) {
          app.fetch();
          settle();
        }
      }
    }
  }

  /** The node is not heard of any more, and the ResourceManager gives it up. */
  public void lose(FakeNode node) {
    nodes.remove(node.id());
    send(new RMNodeEvent(node.id(), RMNodeEventType.EXPIRE));
  }

  public void decommission(FakeNode node) {
    send(new RMNodeDecommissioningEvent(node.id(), 3_600));
  }

  public void resize(FakeNode node, int memoryMb) {
    resize(node, memoryMb, -1);
  }

  /** And what runs beyond that may go on for so long; -1: for ever. */
  public void resize(FakeNode node, int memoryMb, int overcommitTimeoutMs) {
    Resource size = Resource.newInstance(memoryMb, node.total().getVirtualCores());
    send(new RMNodeResourceUpdateEvent(node.id(), ResourceOption.newInstance(size, overcommitTimeoutMs)));
  }

  @SuppressWarnings("unchecked")
  private void send(RMNodeEvent event) {
    context().getDispatcher().getEventHandler().handle(event);
    settle();
  }

  /** All that was set off has happened. */
  public void settle() {
    rm.drainEvents();
  }

  /** Loads the scheduler's configuration again, as `yarn rmadmin -refreshQueues` does. */
  public void refresh(Consumer<Configuration> change) throws IOException {
    Configuration next = new Configuration(conf);
    change.accept(next);
    scheduler().reinitialize(next, context());
    settle();
  }

  /** The ResourceManager dies and comes back with another configuration. */
  public void restart(Consumer<Configuration> change) throws Exception {
    change.accept(conf);
    restart();
  }

  /** The ResourceManager dies and comes back with what its store has; nodes and masters register again. */
  public void restart() throws Exception {
    MockRM before = rm;
    rm = begin(before.getRMStateStore());
    before.stop();
    for (FakeNode node : nodes.values()) {
      node.register(rm.getResourceTrackerService());
      settle();
    }
  }

  /** What masters do after a restart: they register again, and ask again for what they still want, which is nothing. */
  public void reregisterMasters() throws Exception {
    for (FakeApp app : apps) {
      app.reregister();
    }
    settle();
  }

  public static void until(String what, Callable<Boolean> holds) {
    await(what).atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(20)).until(holds);
  }

  // ---- What must hold ----

  /** What is explained of that application. */
  public JsonNode explained(FakeApp app) {
    for (JsonNode job : scheduler().operatorService().explainNow().whole().path("jobs")) {
      if (job.path("application").asText().equals(app.id().toString())) {
        return job;
      }
    }
    throw new AssertionError(app.id() + " is not explained");
  }

  /** What the core's books and the ResourceManager's say differently after a last step, or null. */
  public String difference() {
    steps();
    settle();
    return differenceAtOnce();
  }

  /** The same after one step and before anything that it led to is carried out elsewhere. */
  public String differenceAtOnce() {
    steps();
    return scheduler().locked(() -> {
      if (facts() == null) {
        return "there is no core: " + scheduler().operatorService().fault();
      }
      engine().step(); // the ticker may have marked something since
      if (!facts().isQuiet()) {
        return "facts are left over after a step";
      }
      return EngineOf.difference(this);
    });
  }

  /** Steps until nothing more comes of it. */
  private void steps() {
    while (scheduler().locked(engine()::step)) {
      settle();
    }
  }

  @Override
  public void close() {
    rm.stop();
    FileUtil.fullyDelete(scratch);
    DefaultMetricsSystem.shutdown();
  }
}
