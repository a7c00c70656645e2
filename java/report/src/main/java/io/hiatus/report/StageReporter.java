package io.hiatus.report;

import io.hiatus.report.StageReport.Stage;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends every second what an application knows of its stages. */
public final class StageReporter extends Thread {
  private static final Logger LOG = LoggerFactory.getLogger(StageReporter.class);
  private static final long INTERVAL_MS = 1_000;

  /** Who knows them. */
  public interface Source {
    /** What it knows now, no more than {@link StageReport#MOST_STAGES}. */
    List<Stage> stages();

    /** Whether stages may follow of which it does not know yet. */
    boolean more();
  }

  private final ReportSender sender;
  private final Source source;
  private long number = ReportSender.firstNumber();

  private StageReporter(ReportSender sender, Source source) {
    super("HiatusReports");
    setDaemon(true);
    this.sender = sender;
    this.source = source;
  }

  /** One that does so until it is interrupted; null, which the log explains, if it cannot or nobody would hear it. */
  public static StageReporter start(Configuration conf, ReportSender.Tokens tokens, Source source) {
    if (conf.getInt(ReportSender.PORT, 0) == 0) {
      LOG.info("Hiatus is not told of stages: {} is not set", ReportSender.PORT);
      return null;
    }
    try {
      StageReporter reporter = new StageReporter(new ReportSender(conf, tokens), source);
      reporter.start();
      return reporter;
    } catch (IOException e) {
      LOG.warn("Hiatus is not told of stages", e);
      return null;
    }
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

  private StageReport report(AMRMTokenIdentifier speaker) {
    ApplicationAttemptId attempt = speaker.getApplicationAttemptId();
    return new StageReport(attempt.getApplicationId().getClusterTimestamp(), attempt.getApplicationId().getId(), attempt.getAttemptId(),
        speaker.getKeyId(), number++, source.more(), source.stages());
  }
}
