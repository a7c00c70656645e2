package io.hiatus.spark;

import io.hiatus.report.ReportSender;
import io.hiatus.report.StageReport;
import java.io.IOException;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends every second what a listener has counted. */
final class StageReporter extends Thread {
  private static final Logger LOG = LoggerFactory.getLogger(StageReporter.class);
  private static final long INTERVAL_MS = 1_000;

  private final ReportSender sender;
  private final StageListener listener;
  private long number = ReportSender.firstNumber();

  /** Speaks as the user of the caller. */
  StageReporter(Configuration conf, StageListener listener) throws IOException {
    super("HiatusReports");
    setDaemon(true);
    this.sender = new ReportSender(conf, UserGroupInformation.getCurrentUser());
    this.listener = listener;
  }

  @Override
  public void run() {
    try {
      while (true) {
        sender.send(speaker -> Collections.singletonList(report(speaker)));
        Thread.sleep(INTERVAL_MS);
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("Hiatus is not told of stages any more", e);
    } catch (InterruptedException e) {
      // The application ends.
    } finally {
      sender.close();
    }
  }

  /** What there is to say now. A program may always have more jobs. */
  private StageReport report(AMRMTokenIdentifier speaker) {
    ApplicationAttemptId attempt = speaker.getApplicationAttemptId();
    return new StageReport(attempt.getApplicationId().getClusterTimestamp(), attempt.getApplicationId().getId(), attempt.getAttemptId(),
        speaker.getKeyId(), number++, true, listener.stages());
  }
}
