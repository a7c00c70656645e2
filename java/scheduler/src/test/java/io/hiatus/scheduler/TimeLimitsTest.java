package io.hiatus.scheduler;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ApplicationResourceUsageReport;
import org.apache.hadoop.yarn.api.records.ApplicationTimeoutType;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.client.RMDelegationTokenIdentifier;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.util.Times;
import org.junit.Test;

/** What clocks do to work that stands still: an application's lifetime, its tokens' last day, and what it is billed for. */
public class TimeLimitsTest {
  private static final int TASK_MB = 1024;

  private static void withQuickMonitor(Configuration conf) {
    conf.setLong(YarnConfiguration.RM_APPLICATION_MONITOR_INTERVAL_MS, 100);
  }

  /** A delegation token with that last day; {@code cut}: what is left of its identifier, so that nobody can read it. */
  private static Token<?> token(long lastDayMs, int cut) {
    RMDelegationTokenIdentifier identifier = new RMDelegationTokenIdentifier(new Text("user"), new Text("rm"), new Text("user"));
    identifier.setMaxDate(lastDayMs);
    return new Token<>(Arrays.copyOf(identifier.getBytes(), Math.min(cut, identifier.getBytes().length)), new byte[0],
        identifier.getKind(), new Text("rm"));
  }

  private static FakeApp submit(MockCluster cluster, Token<?>... tokens) throws Exception {
    Credentials credentials = new Credentials();
    for (int i = 0; i < tokens.length; i++) {
      credentials.addToken(new Text(String.valueOf(i)), tokens[i]);
    }
    DataOutputBuffer written = new DataOutputBuffer();
    credentials.writeTokenStorageToStream(written);
    return cluster.started(cluster.submit("default",
        submission -> submission.getAMContainerSpec().setTokens(ByteBuffer.wrap(written.getData(), 0, written.getLength()))));
  }

  private static FakeApp submit(MockCluster cluster, long lifetimeS) throws Exception {
    Map<ApplicationTimeoutType, Long> limit = Collections.singletonMap(ApplicationTimeoutType.LIFETIME, lifetimeS);
    return cluster.started(cluster.submit(cluster.builder("default", "user").withApplicationTimeouts(limit).build()));
  }

  @Test
  public void aLifetimeGoesOnWhileItsJobIsParkedAndIsToldAndAtItsEndNothingIsLeft() throws Exception {
    try (MockCluster cluster = MockCluster.with(TimeLimitsTest::withQuickMonitor)) {
      cluster.node(8 * 1024, 16);
      FakeApp limited = submit(cluster, 8);
      limited.ask(2, TASK_MB);
      cluster.rounds(3);
      assertTrue(cluster.scheduler().operatorService().park(limited.id(), true));
      cluster.rounds(3);
      assertEquals("both stand still", 2, cluster.scheduler().demotions().count());
      long left = cluster.explained(limited).path("lifetime_left_s").asLong(-1);
      assertTrue("it is told what is left: " + left, left >= 0 && left <= 8);
      Thread.sleep(1_000);
      assertTrue("and that goes on", cluster.explained(limited).path("lifetime_left_s").asLong() < left);

      MockCluster.until("its lifetime is over", () -> {
        cluster.beat();
        return limited.app().getState() == RMAppState.KILLED;
      });
      cluster.rounds(2);
      assertEquals(0, cluster.scheduler().demotions().count());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void whoHasNoLifetimeIsToldOfNoneAndALaterEndIsTold() throws Exception {
    try (MockCluster cluster = MockCluster.with(TimeLimitsTest::withQuickMonitor)) {
      cluster.node(8 * 1024, 16);
      FakeApp free = cluster.run("default");
      FakeApp limited = submit(cluster, 600);
      cluster.rounds(2);
      assertTrue(cluster.explained(free).path("lifetime_left_s").isNull());
      long later = System.currentTimeMillis() + 3_600_000;
      cluster.rm().getRMAppManager().updateApplicationTimeout(limited.app(),
          Collections.singletonMap(ApplicationTimeoutType.LIFETIME, Times.formatISO8601(later)));
      assertTrue(cluster.explained(limited).path("lifetime_left_s").asLong() > 3_500);
    }
  }

  @Test
  public void theFirstLastDayOfItsDelegationTokensIsToldAndUnreadableOnesDoNoHarm() throws Exception {
    long inAnHour = System.currentTimeMillis() + 3_600_000;
    for (boolean renews : new boolean[] {false, true}) {
      try (MockCluster cluster = MockCluster.with(conf -> conf.setBoolean(YarnConfiguration.RM_PROXY_USER_PRIVILEGES_ENABLED, renews))) {
        cluster.node(8 * 1024, 16);
        FakeApp two = submit(cluster, token(2 * inAnHour, 1_000), token(inAnHour, 1_000), token(0, 3));
        FakeApp none = submit(cluster, token(0, 3));
        two.ask(1, TASK_MB);
        cluster.rounds(3);
        assertTrue(cluster.scheduler().operatorService().park(two.id(), true));
        cluster.rounds(3);
        assertTrue(cluster.explained(two).path("parked").asBoolean());
        double left = cluster.explained(two).path("tokens_left_s").asDouble(-1);
        assertEquals("the ResourceManager gets new ones: " + renews, renews ? -1 : 3_590, left, 10);
        assertTrue(cluster.explained(none).path("tokens_left_s").isNull());
      }
    }
  }

  /** What a container is billed for is its time from beginning to end, once, whatever stood still and how often. */
  @Test
  public void whatStandsStillIsBilledAsIfItRanAndNotTwice() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(8 * 1024, 16);
      FakeApp app = cluster.run("default");
      app.ask(1, TASK_MB);
      cluster.rounds(3);
      ContainerId task = app.held().get(0);
      ApplicationResourceUsageReport running = cluster.attempt(app).getResourceUsageReport();

      for (boolean parked : new boolean[] {true, false, true}) {
        assertTrue(cluster.scheduler().operatorService().park(app.id(), parked));
        cluster.rounds(3);
        assertEquals(parked ? 1 : 0, cluster.scheduler().demotions().count());
        Thread.sleep(1_500);
      }
      ApplicationResourceUsageReport stopped = cluster.attempt(app).getResourceUsageReport();
      long begun = cluster.container(task).getCreationTime();
      assertEquals("what it holds leaves out what is suspended", running.getUsedResources().getMemorySize() - TASK_MB,
          stopped.getUsedResources().getMemorySize());
      app.finish(task);
      cluster.rounds(3);
      long masterS = (System.currentTimeMillis() - cluster.container(app.masterContainer()).getCreationTime()) / 1000;
      long taskS = (System.currentTimeMillis() - begun) / 1000;
      ApplicationResourceUsageReport bill = cluster.attempt(app).getResourceUsageReport();
      assertEquals("its whole time", taskS * TASK_MB + masterS * 256, bill.getMemorySeconds(), 2 * TASK_MB);
      assertEquals("of vcores, too", taskS + masterS, bill.getVcoreSeconds(), 2);
      assertEquals("nothing of it was preempted", 0, bill.getPreemptedMemorySeconds());
    }
  }
}
