package io.hiatus.report;

import io.hiatus.report.ExecutorReport.Worth;
import io.hiatus.report.StageReport.Stage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends every second what an application knows of its stages, and which of its executors idle or keep something. */
public final class StageReporter extends Thread {
  private static final Logger LOG = LoggerFactory.getLogger(StageReporter.class);
  private static final long INTERVAL_MS = 1_000;

  /** Who knows them. */
  public interface Source {
    /** What it knows now, no more than {@link StageReport#MOST_STAGES}. */
    List<Stage> stages();

    /** Whether stages may follow of which it does not know yet. */
    boolean more();

    /** What its executors are worth to it now, by the numbers of their containers. */
    Map<Long, Worth> executors();
  }

  private final ReportSender sender;
  private final Source source;
  private long number = ReportSender.firstNumber();
  /** Executors that did not only have tasks when they were last told of. */
  private Set<Long> told = Collections.emptySet();

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
        sender.send(this::reports);
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

  private List<Report> reports(AMRMTokenIdentifier speaker) {
    ApplicationAttemptId attempt = speaker.getApplicationAttemptId();
    long cluster = attempt.getApplicationId().getClusterTimestamp();
    int application = attempt.getApplicationId().getId();
    List<Report> reports = new ArrayList<>();
    reports.add(new StageReport(cluster, application, attempt.getAttemptId(), speaker.getKeyId(), number++, source.more(), source.stages()));
    Map<Long, Worth> news = news(source.executors());
    if (!news.isEmpty()) {
      for (List<Long> part : Report.parts(new ArrayList<>(news.keySet()), ExecutorReport.MOST_EXECUTORS)) {
        Map<Long, Worth> worth = part.stream().collect(Collectors.toMap(Function.identity(), news::get));
        reports.add(new ExecutorReport(cluster, application, attempt.getAttemptId(), speaker.getKeyId(), number++, worth));
      }
    }
    return reports;
  }

  /** Of these what is not assumed anyhow: who idles or keeps something, and who did until now. */
  private Map<Long, Worth> news(Map<Long, Worth> executors) {
    Map<Long, Worth> news = new HashMap<>(executors);
    news.entrySet().removeIf(one -> one.getValue() == Worth.BUSY && !told.contains(one.getKey()));
    told = news.entrySet().stream().filter(one -> one.getValue() != Worth.BUSY).map(Map.Entry::getKey).collect(Collectors.toSet());
    return news;
  }
}
