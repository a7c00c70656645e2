package io.hiatus.scheduler.hadoop;

import static io.hiatus.scheduler.MockCluster.gauge;
import static org.hamcrest.CoreMatchers.allOf;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.engine.Engine;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.junit.Test;
import org.slf4j.LoggerFactory;

/** On a Hadoop that nobody has tried it with Hiatus leaves everything to stock, and says so. */
public class HadoopVersionTest {
  /** Hiatus, on a Hadoop between two that were tested. */
  public static final class Between extends MockCluster.OpenScheduler {
    @Override
    public String hadoopVersion() {
      return "3.4.99";
    }
  }

  /** Hiatus, on a Hadoop of days to come. */
  public static final class OfDaysToCome extends MockCluster.OpenScheduler {
    @Override
    public String hadoopVersion() {
      return "9.9.9";
    }
  }

  @Test
  public void whatWasTestedIsRunWhatLiesBetweenIsTriedAndTheRestIsUnknown() throws Exception {
    assertEquals(Optional.empty(), HadoopVersion.require(VersionInfo.getVersion()));
    for (String line : IOUtils.readLines(getClass().getResourceAsStream("/hadoop-versions-judged"), StandardCharsets.UTF_8)) {
      if (!line.startsWith("#")) {
        assertEquals(line, line.substring(line.indexOf(' ') + 1), verdict(line.substring(0, line.indexOf(' '))));
      }
    }
  }

  private static String verdict(String version) {
    try {
      return HadoopVersion.require(version).isPresent() ? "tried" : "tested";
    } catch (HadoopVersion.Unknown e) {
      return "unknown";
    }
  }

  private static MockCluster on(Class<? extends MockCluster.OpenScheduler> scheduler) throws Exception {
    return MockCluster.with(conf -> conf.setClass(YarnConfiguration.RM_SCHEDULER, scheduler, ResourceScheduler.class));
  }

  @Test
  public void oneBetweenTestedOnesIsTriedAndALineSaysSo() throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(Engine.class));
    try (MockCluster cluster = on(Between.class)) {
      log.stopCapturing();
      assertThat(log.getOutput(), containsString("not tested with Hadoop 3.4.99"));
      assertEquals(null, cluster.scheduler().operatorService().fault());
    }
  }

  @Test
  public void onAnUnknownOneStockPlacesAndALineSaysWhy() throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(Engine.class));
    try (MockCluster cluster = on(OfDaysToCome.class)) {
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
      assertTrue("a refresh does not change that", cluster.scheduler().operatorService().fault().contains("9.9.9"));
    }
  }
}
