package org.apache.hadoop.yarn.server.resourcemanager;

import io.hiatus.scheduler.HiatusScheduler;
import java.io.File;
import java.util.Collection;
import java.util.Collections;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueMetrics;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/**
 * Stands in front of Hadoop's class of this name, whose subclasses are run out of Hadoop's tests jar: with HiatusScheduler as
 * CapacityScheduler, which it is one of, and nothing else.
 */
@RunWith(Parameterized.class)
public abstract class ParameterizedSchedulerTestBase {
  protected static final String TEST_DIR = new File(System.getProperty("test.build.data")).getAbsolutePath();

  /** What Hadoop's tests are run with. */
  public enum SchedulerType {
    CAPACITY, FAIR
  }

  private final SchedulerType type;
  private final YarnConfiguration conf = new YarnConfiguration();
  private final AbstractYarnScheduler<?, ?> scheduler;

  public ParameterizedSchedulerTestBase(SchedulerType type) {
    this.type = type;
    QueueMetrics.clearQueueMetrics();
    DefaultMetricsSystem.setMiniClusterMode(true);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, HiatusScheduler.class, HiatusScheduler.class);
    scheduler = ReflectionUtils.newInstance(HiatusScheduler.class, conf);
  }

  @Parameterized.Parameters(name = "{0}")
  public static Collection<Object[]> getParameters() {
    return Collections.singletonList(new Object[] {SchedulerType.CAPACITY});
  }

  public SchedulerType getSchedulerType() {
    return type;
  }

  public YarnConfiguration getConf() {
    return conf;
  }

  // Raw, as the subclasses were compiled.
  @SuppressWarnings("rawtypes")
  public AbstractYarnScheduler getScheduler() {
    return scheduler;
  }
}
