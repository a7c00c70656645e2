package io.hiatus.scheduler.bridge;

import static io.hiatus.scheduler.MockCluster.gauge;
import static org.hamcrest.CoreMatchers.allOf;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.engine.Engine;
import java.util.Arrays;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.junit.Test;
import org.slf4j.LoggerFactory;

/** On a Hadoop that nobody has tried it with Hiatus leaves everything to stock, and says so. */
public class HadoopVersionTest {
  /** Hiatus, on a Hadoop of days to come. */
  public static final class OfDaysToCome extends MockCluster.OpenScheduler {
    @Override
    public String hadoopVersion() {
      return "9.9.9";
    }
  }

  @Test
  public void theOneItIsBuiltWithIsKnown() {
    HadoopVersion.require(VersionInfo.getVersion());
    assertThrows(HadoopVersion.Unknown.class, () -> HadoopVersion.require("3.4.2-SNAPSHOT"));
  }

  @Test
  public void onAnUnknownOneStockPlacesAndALineSaysWhy() throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(Engine.class));
    try (MockCluster cluster = MockCluster.with(conf ->
        conf.setClass(YarnConfiguration.RM_SCHEDULER, OfDaysToCome.class, ResourceScheduler.class))) {
      log.stopCapturing();
      String line = Arrays.stream(log.getOutput().split("\n")).filter(one -> one.contains("HIATUS IS OFF")).findFirst().get();
      assertThat(line, allOf(containsString("Hadoop 9.9.9 is unknown"), containsString("3.4.2"), containsString("Stock CapacityScheduler")));
      assertFalse("no stack trace", log.getOutput().contains("\tat "));
      assertEquals(1, gauge("Fallback"));
      cluster.node(4096, 64);
      FakeApp app = cluster.run("default");
      app.ask(2, 1024);
      cluster.rounds(4);
      assertEquals(2, app.held().size());

      cluster.refresh(conf -> { });
      assertTrue("a refresh does not change that", cluster.scheduler().operations().fault().contains("9.9.9"));
    }
  }
}
