package io.hiatus.spark;

import io.hiatus.report.StageReporter;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.ApplicationConstants;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a Spark application tell Hiatus how much work is left for its executors: {@code spark.plugins=io.hiatus.spark.HiatusPlugin}. Its
 * driver reports the stages every second. Executors tell the driver which containers they are, and for how long they stood still while
 * a task ran. Nothing depends on any of this.
 */
public final class HiatusPlugin implements SparkPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(HiatusPlugin.class);

  @Override
  public DriverPlugin driverPlugin() {
    return new Driver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Executor();
  }

  /** In the driver. */
  private static final class Driver implements DriverPlugin {
    private SparkContext context;
    private StageListener listener;
    private StageReporter reporter;

    @Override
    public Map<String, String> init(SparkContext context, PluginContext plugin) {
      SparkConf spark = plugin.conf();
      Executors executors = new Executors(spark.getBoolean("spark.shuffle.service.enabled", false));
      listener = new StageListener(Math.max(1, spark.getInt("spark.executor.cores", 1) / spark.getInt("spark.task.cpus", 1)), executors);
      this.context = context;
      return Collections.emptyMap();
    }

    /** Only now is it known which application this is. */
    @Override
    public void registerMetrics(String application, PluginContext plugin) {
      if (!application.startsWith(ApplicationId.appIdStrPrefix)) {
        return; // not on YARN
      }
      Configuration conf = new YarnConfiguration(context.hadoopConfiguration());
      try {
        reporter = StageReporter.start(conf, new DriverTokens(conf, application), listener);
      } catch (IOException e) {
        LOG.warn("Hiatus is not told of stages", e);
      }
      if (reporter != null) {
        context.addSparkListener(listener);
      }
    }

    @Override
    public Object receive(Object message) {
      long[] told = (long[]) message; // a class that every class loader has
      if (told.length == 2) {
        listener.runsIn(Long.toString(told[0]), told[1]);
      } else {
        listener.stoodStill((int) told[0], told[1], told[2]);
      }
      return null;
    }

    @Override
    public void shutdown() {
      if (reporter != null) {
        reporter.interrupt();
      }
    }
  }

  /** In each executor. */
  private static final class Executor implements ExecutorPlugin {
    private final Standstill clock = new Standstill();
    /** The stage of a thread's task, that task, and for how long this process had stood still when it began. */
    private final ThreadLocal<long[]> begun = new ThreadLocal<>();
    private PluginContext plugin;

    @Override
    public void init(PluginContext context, Map<String, String> extra) {
      plugin = context;
      clock.start();
      String container = System.getenv(ApplicationConstants.Environment.CONTAINER_ID.name());
      if (container != null) {
        tell(Long.parseLong(context.executorID()), ContainerId.fromString(container).getContainerId());
      }
    }

    private void tell(long... message) {
      try {
        plugin.send(message);
      } catch (IOException e) {
        LOG.debug("The driver does not hear of this executor", e);
      }
    }

    @Override
    public void onTaskStart() {
      begun.set(new long[] {TaskContext.get().stageId(), TaskContext.get().taskAttemptId(), clock.look()});
    }

    @Override
    public void onTaskSucceeded() {
      long[] before = begun.get();
      long millis = clock.look() - before[2];
      if (millis > 0) {
        tell(before[0], before[1], millis);
      }
    }

    @Override
    public void shutdown() {
      clock.interrupt();
    }
  }
}
