package io.hiatus.scheduler.progress;

import io.hiatus.scheduler.metrics.HiatusMetrics;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.annotation.Metrics;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;

/** What comes of the reports that jobs send to {@link ReportReceiver}. */
@Metrics(about = "Jobs tell Hiatus of their progress", context = "yarn")
final class ReportMetrics {
  static final String NAME = "HiatusReportMetrics";

  @Metric("reports that were believed")
  MutableCounterLong taken;
  @Metric("bytes of these")
  MutableCounterLong takenBytes;
  @Metric("packets that are no reports, or say what cannot be")
  MutableCounterLong malformed;
  @Metric("reports not signed by the application attempt that they name, or of one that is not there")
  MutableCounterLong forged;
  @Metric("reports that had come before, or after a later one")
  MutableCounterLong old;
  @Metric("reports of a job that sends more than its tasks need")
  MutableCounterLong excess;
  @Metric("seconds in which more came than are looked at")
  MutableCounterLong floods;

  private ReportMetrics() {
  }

  static ReportMetrics register() {
    return HiatusMetrics.replace(NAME, "What jobs tell Hiatus", new ReportMetrics());
  }
}
