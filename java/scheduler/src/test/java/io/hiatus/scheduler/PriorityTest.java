package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.config.HiatusConfiguration;
import java.util.List;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.SettableFuture;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Priority;
import org.junit.Test;

/** Applications of a higher priority come first in their queue, whatever the policy, as with CapacityScheduler. */
public class PriorityTest {
  private static final int GB = 1024;
  private static final int MASTERS_MB = 512;

  private static MockCluster cluster(Consumer<Configuration> more) throws Exception {
    MockCluster cluster = MockCluster.with(conf -> {
      conf.set("yarn.cluster.max-application-priority", "10");
      more.accept(conf);
    });
    cluster.node(4 * GB + MASTERS_MB, 64);
    cluster.node(4 * GB + MASTERS_MB, 64);
    return cluster;
  }

  private static FakeApp run(MockCluster cluster, int priority) throws Exception {
    return cluster.started(cluster.submit(cluster.builder("default", "user").withAppPriority(Priority.newInstance(priority)).build()));
  }

  private static String running(MockCluster cluster, FakeApp low, FakeApp high) {
    return cluster.liveTasks(low).stream().filter(id -> isRunning(cluster, id)).count() + "/"
        + cluster.liveTasks(high).stream().filter(id -> isRunning(cluster, id)).count();
  }

  private static boolean isRunning(MockCluster cluster, ContainerId id) {
    return cluster.container(id).getExecutionType() == ExecutionType.GUARANTEED;
  }

  /** Containers that both run after one of priority 1 filled the cluster, one of 9 asked for more, and tasks of the first ended. */
  private static String served(Consumer<Configuration> more) throws Exception {
    try (MockCluster cluster = cluster(more)) {
      FakeApp low = run(cluster, 1);
      low.ask(500, GB);
      cluster.rounds(6);
      assertEquals(8, low.held().size());
      FakeApp high = run(cluster, 9);
      high.ask(900, GB);
      for (int ended = 0; ended < 8; ended++) {
        cluster.rounds(2);
        List<ContainerId> tasks = low.held();
        tasks.stream().filter(id -> isRunning(cluster, id)).findFirst().ifPresent(low::finish);
      }
      cluster.rounds(4);
      return running(cluster, low, high);
    }
  }

  @Test
  public void theHigherOneIsServedFirstUnderEveryPolicyAsInStock() throws Exception {
    assertEquals("stock", "0/8", served(conf -> conf.set(HiatusConfiguration.MODE, "off")));
    for (String policy : new String[] {"srpt", "fair", "hfsp"}) {
      assertEquals(policy, "0/8", served(conf -> conf.set(hiatus("policy"), policy)));
      assertEquals(policy + " without suspension", "0/8", served(conf -> {
        conf.set(hiatus("policy"), policy);
        conf.set(HiatusConfiguration.MODE, "order");
      }));
    }
  }

  @Test
  public void nothingOfItIsSuspendedForASmallerOneUntilItsPriorityFalls() throws Exception {
    try (MockCluster cluster = cluster(conf -> { })) {
      FakeApp big = run(cluster, 9);
      big.ask(500, GB);
      cluster.rounds(2);
      FakeApp small = run(cluster, 1);
      small.ask(2, GB);
      cluster.rounds(6);
      assertEquals(0, small.held().size());
      assertEquals(0, counter("Suspended"));
      String why = cluster.scheduler().operatorService().explainNow().whole().path("jobs").path(1).path("blocked_by").asText();
      assertTrue(why, why.contains("higher priority"));
      cluster.scheduler().updateApplicationPriority(Priority.newInstance(1), big.id(), SettableFuture.create(),
          UserGroupInformation.getCurrentUser());
      cluster.rounds(6);
      assertEquals(2, small.held().size());
      assertEquals(2, counter("Suspended"));
      assertNull(cluster.difference());
    }
  }
}
