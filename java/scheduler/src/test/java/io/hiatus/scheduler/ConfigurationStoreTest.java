package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.file.Files;
import java.util.Collections;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.MutableConfigurationProvider;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.conf.YarnConfigurationStore.LogMutation;
import org.apache.hadoop.yarn.webapp.dao.QueueConfigInfo;
import org.apache.hadoop.yarn.webapp.dao.SchedConfUpdateInfo;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Queues whose configuration is in a store, changed while something is suspended. */
public class ConfigurationStoreTest extends OneSuspended {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  /** What PUT /ws/v1/cluster/scheduler-conf does. */
  private static void change(MockCluster cluster, SchedConfUpdateInfo update) throws Exception {
    MutableConfigurationProvider provider = cluster.scheduler().getMutableConfProvider();
    LogMutation mutation = provider.logAndApplyMutation(UserGroupInformation.getCurrentUser(), update);
    boolean taken = false;
    try {
      cluster.context().getRMAdminService().refreshQueues();
      taken = true;
    } finally {
      provider.confirmPendingMutation(mutation, taken);
      cluster.settle();
    }
  }

  private static SchedConfUpdateInfo ofQueue(String path, String property, String value) {
    SchedConfUpdateInfo update = new SchedConfUpdateInfo();
    update.getUpdateQueueInfo().add(new QueueConfigInfo(path, Collections.singletonMap(property, value)));
    return update;
  }

  private static SchedConfUpdateInfo ofAll(String key, String value) {
    SchedConfUpdateInfo update = new SchedConfUpdateInfo();
    update.getGlobalParams().put(key, value);
    return update;
  }

  /** What stands in the file of queues, which is where a store begins, is taken out of the rest. */
  private void useStore(Configuration conf, String kind) {
    queues(conf, "root", "default", 100);
    conf.set(YarnConfiguration.SCHEDULER_CONFIGURATION_STORE_CLASS, kind);
    conf.set(YarnConfiguration.SCHEDULER_CONFIGURATION_FS_PATH, new File(folder.getRoot(), "fs").toURI().toString());
    conf.set(YarnConfiguration.RM_SCHEDCONF_STORE_PATH, new File(folder.getRoot(), "leveldb").getPath());
    Configuration file = new Configuration(false);
    for (Map.Entry<String, String> property : conf) {
      if (property.getKey().startsWith("yarn.scheduler.capacity.")) {
        file.set(property.getKey(), property.getValue());
      }
    }
    file.forEach(property -> conf.unset(property.getKey()));
    try (OutputStream out = Files.newOutputStream(folder.getRoot().toPath().resolve(YarnConfiguration.CS_CONFIGURATION_FILE))) {
      file.writeXml(out);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void changeWhileSuspended(String kind, Configuration more, boolean comesBack) throws Exception {
    URL file = new File(folder.getRoot(), YarnConfiguration.CS_CONFIGURATION_FILE).toURI().toURL();
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Thread.currentThread().setContextClassLoader(new ClassLoader(before) {
      @Override
      public URL getResource(String name) {
        return name.equals(YarnConfiguration.CS_CONFIGURATION_FILE) ? file : super.getResource(name);
      }
    });
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.addResource(more);
      useStore(conf, kind);
    })) {
      suspendOne(cluster);
      SchedConfUpdateInfo another = ofQueue("root.default", "capacity", "40");
      another.getAddQueueInfo().add(new QueueConfigInfo("root.other", Collections.singletonMap("capacity", "60")));
      change(cluster, another);
      assertNull(cluster.difference());
      assertNotNull(cluster.facts().queues.of("root.other"));

      change(cluster, ofQueue("root.default", "hiatus.policy", "fifo"));
      change(cluster, ofAll(hiatus("max-suspension-ms"), "7200000"));
      assertEquals("fifo", cluster.scheduler().getConfiguration().get(queue("root.default", "hiatus.policy")));
      change(cluster, ofAll(hiatus("policy"), "las"));
      assertEquals("what stands in yarn-site.xml, too", "las", cluster.scheduler().getConfiguration().get(hiatus("policy")));
      assertEquals("7200000", cluster.scheduler().getConfiguration().get(hiatus("max-suspension-ms")));
      assertNull(cluster.scheduler().operatorService().fault());
      Exception wrong = assertThrows(IOException.class, () -> change(cluster, ofQueue("root.default", "hiatus.policy", "fofi")));
      assertThat(wrong.getMessage(), containsString("fofi"));
      assertThrows(IOException.class, () -> change(cluster, ofAll(hiatus("mode"), "on")));
      assertEquals("what is refused is not kept", "fifo", cluster.scheduler().getConfiguration().get(queue("root.default", "hiatus.policy")));
      assertNull(cluster.scheduler().operatorService().fault());
      cluster.rounds(2);
      assertNull(cluster.difference());

      if (comesBack) {
        cluster.restart();
        assertEquals("las", cluster.scheduler().getConfiguration().get(hiatus("policy")));
        assertEquals("fifo", cluster.scheduler().getConfiguration().get(queue("root.default", "hiatus.policy")));
        assertNull(cluster.scheduler().operatorService().fault());
        cluster.reregisterMasters();
        cluster.rounds(2);
      }
      bothEnd(cluster);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  @Test
  public void inAFileSystem() throws Exception {
    changeWhileSuspended(YarnConfiguration.FS_CONFIGURATION_STORE, new Configuration(false), true);
  }

  /** Which one process at a time may open. */
  @Test
  public void inLevelDb() throws Exception {
    changeWhileSuspended(YarnConfiguration.LEVELDB_CONFIGURATION_STORE, new Configuration(false), false);
  }

  @Test
  public void inZooKeeper() throws Exception {
    File data = folder.newFolder();
    ServerCnxnFactory server = ServerCnxnFactory.createFactory(new InetSocketAddress("127.0.0.1", 0), 10);
    try {
      server.startup(new ZooKeeperServer(data, data, 2_000));
      Configuration address = new Configuration(false);
      address.set("hadoop.zk.address", "127.0.0.1:" + server.getLocalPort());
      changeWhileSuspended(YarnConfiguration.ZK_CONFIGURATION_STORE, address, true);
    } finally {
      server.shutdown();
    }
  }
}
