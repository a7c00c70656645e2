package io.hiatus.scheduler.metrics;

import io.hiatus.scheduler.bridge.Records;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.annotation.Metrics;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableGaugeLong;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/** One queue's part of {@link HiatusMetrics}: what its jobs hold and want, and what was done to them. */
@Metrics(about = "Hiatus scheduler, by queue", context = "yarn")
final class QueueMetrics extends CommonMetrics {
  static final String NAME = "HiatusQueueMetrics";

  private final MetricsRegistry registry = new MetricsRegistry(NAME);

  @Metric("containers suspended now, by the core's books")
  MutableGaugeLong suspendedNow;

  private QueueMetrics(String path) {
    registry.tag(Interns.info("Queue", "path of the queue"), path);
  }

  @Override
  void ended() {
    super.ended();
    suspendedNow.set(0);
  }

  /** The metrics of all queues, each a source of its own, named as YARN names its own queues' sources. */
  public static final class All {
    private final Map<String, QueueMetrics> byPath = new ConcurrentSkipListMap<>();

    /** The queue in which the application is. */
    QueueMetrics of(FiCaSchedulerApp attempt) {
      return of(((CSQueue) attempt.getQueue()).getQueuePath());
    }

    /** The queue of that path. */
    QueueMetrics of(String path) {
      return byPath.computeIfAbsent(path, any -> HiatusMetrics.replace(source(path), "Hiatus, " + path, new QueueMetrics(path)));
    }

    /** Notes what the core told of a queue: a {@link Records.QueueLoad}. */
    void loaded(String path, ByteBuffer from, int at) {
      long jobs = Records.QueueLoad.jobs(from, at);
      if (jobs == 0 && !byPath.containsKey(path)) {
        return; // a parent, or one that nobody uses
      }
      QueueMetrics queue = of(path);
      queue.jobs.set(jobs);
      queue.running.set(Records.QueueLoad.running(from, at));
      queue.pending.set(Records.QueueLoad.pending(from, at));
      queue.pendingMB.set(Records.QueueLoad.pendingMb(from, at));
      queue.suspendedNow.set(Records.QueueLoad.suspended(from, at));
      queue.suspendedMB.set(Records.QueueLoad.suspendedMb(from, at));
      queue.suspendedMillis.set(Records.QueueLoad.suspendedMs(from, at));
      queue.estimates.set(Records.QueueLoad.estimates(from, at));
      queue.estimateOff.set((float) Records.QueueLoad.estimateOff(from, at));
    }

    /** There is no core any more that holds or wants anything. */
    void ended() {
      byPath.values().forEach(QueueMetrics::ended);
    }

    /** The others are gone. */
    void retain(Set<String> paths) {
      byPath.keySet().removeIf(path -> {
        boolean gone = !paths.contains(path);
        if (gone) {
          DefaultMetricsSystem.instance().unregisterSource(source(path));
        }
        return gone;
      });
    }

    /** Each queue with its metrics, by path. */
    public Map<String, QueueMetrics> byPath() {
      return byPath;
    }
  }

  /** {@code HiatusQueueMetrics,q0=root,q1=default}. */
  static String source(String path) {
    StringBuilder name = new StringBuilder(NAME);
    int level = 0;
    for (String part : path.split("\\.")) {
      name.append(",q").append(level++).append('=').append(part);
    }
    return name.toString();
  }
}
