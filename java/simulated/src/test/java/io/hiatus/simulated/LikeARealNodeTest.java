package io.hiatus.simulated;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.CoreMatchers.is;

import io.hiatus.nodemanager.HiatusDefaultContainerExecutor;
import java.net.InetSocketAddress;
import java.security.PrivilegedExceptionAction;
import java.util.Collections;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainerRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainersRequest;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.Token;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.security.NMTokenIdentifier;
import org.apache.hadoop.yarn.server.api.ContainerType;
import org.apache.hadoop.yarn.server.api.ResourceTracker;
import org.apache.hadoop.yarn.server.nodemanager.NodeManager;
import org.apache.hadoop.yarn.server.resourcemanager.security.NMTokenSecretManagerInRM;
import org.apache.hadoop.yarn.server.resourcemanager.security.RMContainerTokenSecretManager;
import org.apache.hadoop.yarn.util.ConverterUtils;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The same orders to a real NodeManager with the product's executor and to a simulated node: the ResourceManager hears the same. */
public class LikeARealNodeTest {
  private static final ApplicationAttemptId ATTEMPT =
      ApplicationAttemptId.newInstance(ApplicationId.newInstance(System.currentTimeMillis(), 1), 1);
  /** Room for two. */
  private static final Resource TOTAL = Resource.newInstance(1024, 2);
  private static final Resource SIZE = Resource.newInstance(512, 1);
  private static final String RUNS = " GUARANTEED RUNNING RUNNING";
  private static final String DEMOTED_RUNS = " OPPORTUNISTIC RUNNING RUNNING";
  private static final String PAUSED = " OPPORTUNISTIC RUNNING PAUSED";
  private static final String WAITS = " GUARANTEED RUNNING PAUSED";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  /** A node that is given containers. */
  private interface Side {
    void start(ContainerId container) throws Exception;

    /** By which the node knows a container, and what it is to become. */
    default Token token(ContainerId container, ExecutionType type, int version) {
      return null;
    }
  }

  @Test
  public void aSimulatedNode() throws Exception {
    FakeTracker tracker = FakeTracker.withoutKeys();
    SimulatedNode node = new SimulatedNode(NodeId.newInstance("127.0.0.1", 1), TOTAL, true, System::currentTimeMillis);
    node.register(tracker);
    Thread beats = new Thread(() -> {
      try {
        while (true) {
          node.beat(tracker);
          Thread.sleep(20);
        }
      } catch (InterruptedException e) {
        return;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    });
    beats.start();
    try {
      ordersAndAnswers(tracker, container -> node.start(container, SIZE, ExecutionType.GUARANTEED, 0, 600_000, false, done -> { }));
    } finally {
      beats.interrupt();
      beats.join();
    }
  }

  @Test
  public void aRealNodeManager() throws Exception {
    YarnConfiguration conf = conf();
    RMContainerTokenSecretManager containerTokens = new RMContainerTokenSecretManager(conf);
    NMTokenSecretManagerInRM nmTokens = new NMTokenSecretManagerInRM(conf);
    containerTokens.rollMasterKey();
    nmTokens.rollMasterKey();
    FakeTracker tracker = new FakeTracker(containerTokens.getCurrentKey(), nmTokens.getCurrentKey());
    Server server = YarnRPC.create(conf).getServer(ResourceTracker.class, tracker, new InetSocketAddress("127.0.0.1", 0), conf, null, 1);
    server.start();
    conf.set(YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS, "127.0.0.1:" + server.getListenerAddress().getPort());
    NodeManager manager = new NodeManager();
    try {
      manager.init(conf);
      manager.start();
      await().atMost(60, SECONDS).until(tracker::isRegistered);
      ContainerManagementProtocol containers = proxy(conf, manager.getNMContext().getNodeId(), nmTokens);
      ordersAndAnswers(tracker, new Side() {
        @Override
        public void start(ContainerId container) throws Exception {
          containers.startContainers(StartContainersRequest.newInstance(Collections.singletonList(StartContainerRequest.newInstance(
              ContainerLaunchContext.newInstance(Collections.emptyMap(), Collections.emptyMap(), Collections.singletonList("sleep 600"),
                  null, null, null), token(container, ExecutionType.GUARANTEED, 0)))));
        }

        @Override
        public Token token(ContainerId container, ExecutionType type, int version) {
          return containerTokens.createContainerToken(container, version, manager.getNMContext().getNodeId(), "user", SIZE,
              Priority.newInstance(1), System.currentTimeMillis(), null, null, ContainerType.TASK, type, 0, null);
        }
      });
    } finally {
      manager.stop();
      server.stop();
    }
  }

  private void ordersAndAnswers(FakeTracker tracker, Side node) throws Exception {
    node.start(id(1));
    node.start(id(2));
    hears(tracker, FakeTracker.of(0, 0, 1 + RUNS, 2 + RUNS));
    order(tracker, node, 2, ExecutionType.OPPORTUNISTIC, 1);
    hears(tracker, FakeTracker.of(0, 0, 1 + RUNS, 2 + DEMOTED_RUNS));
    node.start(id(3));
    hears(tracker, FakeTracker.of(1, 1, 1 + RUNS, 2 + PAUSED, 3 + RUNS));
    order(tracker, node, 2, ExecutionType.GUARANTEED, 2);
    hears(tracker, FakeTracker.of(1, 0, 1 + RUNS, 2 + WAITS, 3 + RUNS));
    tracker.kill(id(3));
    hears(tracker, FakeTracker.of(0, 0, 1 + RUNS, 2 + RUNS));
    order(tracker, node, 1, ExecutionType.OPPORTUNISTIC, 1);
    order(tracker, node, 2, ExecutionType.OPPORTUNISTIC, 3);
    hears(tracker, FakeTracker.of(0, 0, 1 + DEMOTED_RUNS, 2 + DEMOTED_RUNS)); // one that came before its room were free would wait
    node.start(id(4));
    hears(tracker, FakeTracker.of(1, 1, 1 + DEMOTED_RUNS, 2 + PAUSED, 4 + RUNS));
    tracker.kill(id(1));
    hears(tracker, FakeTracker.of(0, 0, 2 + DEMOTED_RUNS, 4 + RUNS));
    tracker.kill(id(2));
    tracker.kill(id(4));
    hears(tracker, FakeTracker.of(0, 0));
  }

  private static void hears(FakeTracker tracker, String wanted) {
    await().atMost(60, SECONDS).until(tracker::heard, is(wanted));
  }

  private static void order(FakeTracker tracker, Side node, int container, ExecutionType type, int version) {
    Container update = Container.newInstance(id(container), null, null, SIZE, null, node.token(id(container), type, version), type);
    update.setVersion(version);
    tracker.update(update);
  }

  private static ContainerId id(int container) {
    return ContainerId.newContainerId(ATTEMPT, container);
  }

  private YarnConfiguration conf() throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    conf.setClass(YarnConfiguration.NM_CONTAINER_EXECUTOR, HiatusDefaultContainerExecutor.class,
        org.apache.hadoop.yarn.server.nodemanager.ContainerExecutor.class);
    conf.set(YarnConfiguration.NM_LOCAL_DIRS, folder.newFolder("local").getPath());
    conf.set(YarnConfiguration.NM_LOG_DIRS, folder.newFolder("logs").getPath());
    conf.set("hadoop.tmp.dir", folder.newFolder("tmp").getPath());
    for (String address : new String[] {YarnConfiguration.NM_ADDRESS, YarnConfiguration.NM_LOCALIZER_ADDRESS, YarnConfiguration.NM_WEBAPP_ADDRESS}) {
      conf.set(address, "127.0.0.1:0");
    }
    conf.setLong(YarnConfiguration.NM_PMEM_MB, TOTAL.getMemorySize());
    conf.setInt(YarnConfiguration.NM_VCORES, TOTAL.getVirtualCores());
    conf.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    conf.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, false);
    conf.setFloat(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, 100);
    return conf;
  }

  private static ContainerManagementProtocol proxy(YarnConfiguration conf, NodeId node, NMTokenSecretManagerInRM tokens) throws Exception {
    InetSocketAddress address = new InetSocketAddress(node.getHost(), node.getPort());
    UserGroupInformation user = UserGroupInformation.createRemoteUser(ATTEMPT.toString());
    org.apache.hadoop.security.token.Token<NMTokenIdentifier> token =
        ConverterUtils.convertFromYarn(tokens.createNMToken(ATTEMPT, node, "user"), address);
    user.addToken(token);
    return user.doAs((PrivilegedExceptionAction<ContainerManagementProtocol>) () ->
        (ContainerManagementProtocol) YarnRPC.create(conf).getProxy(ContainerManagementProtocol.class, address, conf));
  }
}
