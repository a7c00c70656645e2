package io.hiatus.scheduler.bridge;

import static io.hiatus.scheduler.MockCluster.counter;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.junit.After;
import org.junit.Test;
import org.slf4j.LoggerFactory;

/** What the core says is in the ResourceManager's log, at the level that its logger has at the moment. */
public class CoreLogTest {
  private static final Logger CORE = Logger.getLogger("io.hiatus.core");

  @After
  public void quiet() {
    CORE.setLevel(null);
  }

  /** A big job steps aside for a small one; returns what the core said meanwhile. */
  private static String suspension(MockCluster cluster, FakeApp small, int before) throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger("io.hiatus.core"));
    small.ask(1, 1024);
    cluster.rounds(4);
    log.stopCapturing();
    assertEquals(before + 1, counter("Suspended"));
    small.finish(small.held().get(0));
    cluster.rounds(3);
    return log.getOutput();
  }

  @Test
  public void itsLevelIsTheLoggersAndFollowsIt() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(2 * 256 + 4 * 1024, 16);
      FakeApp big = cluster.run("default");
      FakeApp small = cluster.run("default");
      big.ask(4, 1024);
      cluster.rounds(5);
      CORE.setLevel(Level.INFO);
      assertEquals("", suspension(cluster, small, 0));
      CORE.setLevel(Level.DEBUG);
      assertThat(suspension(cluster, small, 1),
          containsString("hiatus_core::state::proposals: " + small.id() + ": room of 1024 MB is kept on node 0"));
      CORE.setLevel(Level.OFF);
      assertEquals("", suspension(cluster, small, 2));
    }
  }
}
