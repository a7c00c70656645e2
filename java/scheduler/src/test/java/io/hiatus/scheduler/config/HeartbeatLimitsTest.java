package io.hiatus.scheduler.config;

import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.CoreMatchers.not;
import static org.hamcrest.MatcherAssert.assertThat;

import io.hiatus.scheduler.MockCluster;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.Test;
import org.slf4j.LoggerFactory;

/** Limits that CapacityScheduler has for one heartbeat of a node, and Hiatus has not. */
public class HeartbeatLimitsTest {
  private static final String PREFIX = "yarn.scheduler.capacity.per-node-heartbeat.";

  private static void limited(Configuration conf) {
    conf.set(PREFIX + "maximum-container-assignments", "5");
    conf.set(PREFIX + "multiple-assignments-enabled", "true"); // as by default
  }

  @Test
  public void whatDoesNothingIsSaidAtStartAndWhenHiatusBeginsToPlace() throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(HeartbeatLimits.class));
    try (MockCluster cluster = MockCluster.with(HeartbeatLimitsTest::limited)) {
      assertThat(log.getOutput(), containsString("maximum-container-assignments = 5 does nothing while Hiatus places"));
      assertThat(log.getOutput(), not(containsString("multiple-assignments-enabled")));
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      log.clearOutput();
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "order"));
      assertThat(log.getOutput(), containsString("maximum-container-assignments"));
    } finally {
      log.stopCapturing();
    }
  }

  @Test
  public void nothingIsSaidWhereStockPlaces() throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(HeartbeatLimits.class));
    try (MockCluster cluster = MockCluster.with(conf -> {
      limited(conf);
      conf.set(HiatusConfiguration.MODE, "observe");
    })) {
      cluster.settle();
      assertThat(log.getOutput(), not(containsString("maximum-container-assignments")));
    } finally {
      log.stopCapturing();
    }
  }
}
