package io.hiatus.scheduler.config;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static io.hiatus.scheduler.MockCluster.until;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.apply.PreemptionMonitorGuardTest;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.junit.Test;

/** Preemption that an administrator has switched off in CapacityScheduler's way is off for Hiatus, too. */
public class DisabledPreemptionTest {
  private static final String ALL = "disable_preemption";
  private static final String WITHIN = "intra-queue-preemption.disable_preemption";

  /** Suspended for a second job of the same queue, and then for one of another queue that has nothing of its half. */
  private static long[] suspended(Consumer<Configuration> more) throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      queues(conf, "root", "default", 50, "a", 50);
      more.accept(conf);
    })) {
      cluster.node(3 * 256 + 8 * 1024, 64);
      FakeApp big = cluster.run("a");
      FakeApp small = cluster.run("a");
      FakeApp other = cluster.run("default");
      big.ask(8, 1024);
      cluster.rounds(4);
      assertEquals("idle room is lent", 8, big.held().size());
      small.ask(2, 1024);
      cluster.rounds(6);
      long within = counter("Suspended");
      other.ask(4, 1024);
      cluster.rounds(8);
      assertNull(cluster.difference());
      return new long[] {within, counter("Suspended") - within};
    }
  }

  @Test
  public void withoutThemTheSmallerJobAndTheOtherQueueAreGivenRoom() throws Exception {
    long[] suspended = suspended(conf -> { });
    assertEquals("for the small job", 2, suspended[0]);
    assertTrue("for the other queue", suspended[1] > 0);
  }

  @Test
  public void disablePreemptionProtectsAQueueFromOthersAndFromItsOwnJobs() throws Exception {
    long[] suspended = suspended(conf -> conf.set(queue("root.a", ALL), "true"));
    assertEquals("for the small job", 0, suspended[0]);
    assertEquals("for the other queue", 0, suspended[1]);
  }

  @Test
  public void stockTakesNothingOfItEither() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      PreemptionMonitorGuardTest.hasty(conf);
      conf.set(HiatusConfiguration.MODE, "off");
      conf.setBoolean(CapacitySchedulerConfiguration.INTRAQUEUE_PREEMPTION_ENABLED, true);
      conf.set(queue("root.default", ALL), "true");
    })) {
      cluster.node(3 * 256 + 4 * 1024, 64);
      FakeApp big = cluster.run("default");
      FakeApp small = cluster.run("default");
      FakeApp other = cluster.run("other");
      big.ask(8, 1024);
      cluster.rounds(5);
      small.ask(2, 1024);
      other.ask(2, 1024);
      for (int round = 0; round < 40; round++) { // ten times as long as it waits before it kills
        cluster.rounds(1);
        Thread.sleep(25);
      }
      assertEquals(4, big.held().size());
      cluster.refresh(conf -> conf.set(queue("root.default", ALL), "false"));
      until("what it takes otherwise", () -> {
        cluster.rounds(1);
        return !big.completed().isEmpty();
      });
    }
  }

  @Test
  public void theOneForWithinTheQueueProtectsItFromItsOwnJobsAlone() throws Exception {
    long[] suspended = suspended(conf -> conf.set(queue("root.a", WITHIN), "true"));
    assertEquals("for the small job", 0, suspended[0]);
    assertTrue("for the other queue", suspended[1] > 0);
  }

  @Test
  public void ourOwnKnobAllowsTheOneWithoutTheOther() throws Exception {
    long[] suspended = suspended(conf -> {
      conf.set(queue("root.a", ALL), "true");
      conf.set(queue("root.a", "hiatus.preemption-within"), "on");
    });
    assertEquals("for the small job", 2, suspended[0]);
    assertEquals("for the other queue", 0, suspended[1]);
  }

  @Test
  public void aRefreshSwitchesThemOffAndOn() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(queue("root.default", ALL), "true"))) {
      cluster.node(2 * 256 + 8 * 1024, 64);
      FakeApp big = cluster.run("default");
      FakeApp small = cluster.run("default");
      big.ask(8, 1024);
      cluster.rounds(4);
      small.ask(2, 1024);
      cluster.rounds(4);
      assertEquals(0, counter("Suspended"));
      cluster.refresh(conf -> conf.set(queue("root.default", ALL), "false"));
      cluster.rounds(6);
      assertEquals(2, counter("Suspended"));
      assertEquals(2, small.held().size());
    }
  }

  /** Each of unset, true and false at a parent and at its child, for both properties; stock's own getters are what is right. */
  @Test
  public void queuesInheritThemAsInCapacityScheduler() throws Exception {
    String[] words = {null, "true", "false"};
    try (MockCluster cluster = MockCluster.with(conf -> {
      // Where stock's own preemption is off, its getters say that everything is.
      conf.setBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, true);
      conf.setBoolean(CapacitySchedulerConfiguration.INTRAQUEUE_PREEMPTION_ENABLED, true);
      Object[] parents = new Object[2 * (1 + 9)];
      parents[0] = "default";
      parents[1] = 100;
      for (int parent = 0; parent < 9; parent++) {
        parents[2 + 2 * parent] = "p" + parent;
        parents[3 + 2 * parent] = 0;
      }
      queues(conf, "root", parents);
      for (int parent = 0; parent < 9; parent++) {
        String path = "root.p" + parent;
        set(conf, path, words[parent / 3], words[parent % 3]);
        Object[] children = new Object[2 * 9];
        for (int child = 0; child < 9; child++) {
          children[2 * child] = "c" + parent + child;
          children[2 * child + 1] = 0;
          set(conf, path + ".c" + parent + child, words[child / 3], words[child % 3]);
        }
        queues(conf, path, children);
      }
    })) {
      CapacitySchedulerConfiguration conf = cluster.scheduler().getQueueConfiguration();
      Preemptable root = Preemptable.ABOVE_ROOT.below("root", conf);
      for (int parent = 0; parent < 9; parent++) {
        Preemptable above = root.below("root.p" + parent, conf);
        for (int child = 0; child < 9; child++) {
          String path = "root.p" + parent + ".c" + parent + child;
          CSQueue stock = cluster.scheduler().getQueue(path);
          Preemptable ours = above.below(path, conf);
          assertEquals(path, stock.getPreemptionDisabled(), !ours.byOthers);
          assertEquals(path, stock.getIntraQueuePreemptionDisabled(), !ours.within);
        }
      }
    }
  }

  private static void set(Configuration conf, String path, String all, String within) {
    if (all != null) {
      conf.set(queue(path, ALL), all);
    }
    if (within != null) {
      conf.set(queue(path, WITHIN), within);
    }
  }
}
