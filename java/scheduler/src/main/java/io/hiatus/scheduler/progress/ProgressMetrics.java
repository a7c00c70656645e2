package io.hiatus.scheduler.progress;

import io.hiatus.scheduler.metrics.HiatusMetrics;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.annotation.Metrics;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.apache.hadoop.metrics2.lib.MutableGaugeInt;
import org.apache.hadoop.metrics2.lib.MutableStat;

/** How well {@link ProgressPoller} gets along with the jobs that it asks. */
@Metrics(about = "Hiatus asks jobs for their progress", context = "yarn")
final class ProgressMetrics {
  static final String NAME = "HiatusProgressMetrics";

  private final MetricsRegistry registry = new MetricsRegistry(NAME);
  /** Time of a round, in ms. */
  final MutableStat roundMillis = registry.newStat("Round", "time of a round of asking", "Ops", "Millis");

  @Metric("jobs to be asked")
  MutableGaugeInt jobs;
  @Metric("jobs that did not answer when they were last asked")
  MutableGaugeInt failing;
  @Metric("jobs that the last round had no time for")
  MutableGaugeInt leftOut;
  @Metric("visits that ended well")
  MutableCounterLong answered;
  @Metric("visits that failed")
  MutableCounterLong failed;

  private ProgressMetrics() {
  }

  static ProgressMetrics register() {
    return HiatusMetrics.replace(NAME, "Hiatus' questions to jobs", new ProgressMetrics());
  }
}
