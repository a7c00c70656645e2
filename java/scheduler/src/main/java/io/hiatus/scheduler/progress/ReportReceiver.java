package io.hiatus.scheduler.progress;

import io.hiatus.report.ExecutorReport;
import io.hiatus.report.JobReport;
import io.hiatus.report.Report;
import io.hiatus.report.StageReport;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.progress.MapReduceMaster.Type;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.apache.hadoop.security.token.SecretManager;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes what ApplicationMasters report by themselves ({@link JobReport}, {@link StageReport}, {@link ExecutorReport}), and tells the core. On a thread of its
 * own without the scheduler's lock; what it keeps, and how much it looks at in a second, has limits. Nobody is believed
 * but who knows the password of the AMRM token of the attempt for which it speaks, or the token that is made of it for others, and that it
 * may speak of its own containers only. Nothing is answered, so nobody can be made to wait or to be sent anything.
 */
public final class ReportReceiver extends Thread {
  private static final Logger LOG = LoggerFactory.getLogger(ReportReceiver.class);
  /** The others wait in the socket's buffer, or are lost there. */
  private static final int MOST_PER_SECOND = 5_000;
  /** Who was silent for longer is asked again; jobs report every 5 s at least. */
  private static final long SILENT_MS = 15_000;
  private static final long FORGET_INTERVAL_MS = 60_000;

  private final DatagramSocket socket;
  private final SecretManager<AMRMTokenIdentifier> secrets;
  private final ToIntFunction<ApplicationAttemptId> containers;
  private final Supplier<FactWriter> facts;
  private final LongSupplier clockMs;
  private final ReportMetrics metrics = ReportMetrics.register();
  private final Map<ApplicationId, Heard> heard = new ConcurrentHashMap<>();
  private long forgottenMs;

  /**
   * @param address where to listen
   * @param secrets knows the passwords of the attempts that run
   * @param containers how many an attempt holds; less than 0 if there is none such
   * @param facts where the core listens, or null while it does not
   * @param clockMs never goes back
   * @throws IOException if nobody can listen there
   */
  public ReportReceiver(InetSocketAddress address, SecretManager<AMRMTokenIdentifier> secrets, ToIntFunction<ApplicationAttemptId> containers,
      Supplier<FactWriter> facts, LongSupplier clockMs) throws IOException {
    super("HiatusReports");
    setDaemon(true);
    setUncaughtExceptionHandler((thread, e) -> LOG.error("What jobs report is not heard any more", e));
    this.socket = new DatagramSocket(address);
    this.secrets = secrets;
    this.containers = containers;
    this.facts = facts;
    this.clockMs = clockMs;
  }

  /** The port on which it listens. */
  int port() {
    return socket.getLocalPort();
  }

  @Override
  public void run() {
    // One byte more than a report: what is longer is seen to be.
    DatagramPacket packet = new DatagramPacket(new byte[Report.MOST_BYTES + 1], Report.MOST_BYTES + 1);
    long second = 0;
    int inSecond = 0;
    while (!socket.isClosed()) {
      try {
        packet.setLength(Report.MOST_BYTES + 1);
        socket.receive(packet);
        long now = clockMs.getAsLong();
        inSecond = now / 1_000 == second ? inSecond + 1 : 1;
        second = now / 1_000;
        take(packet.getData(), packet.getLength());
        if (inSecond == MOST_PER_SECOND) {
          metrics.floods.incr();
          Thread.sleep(1_000 - now % 1_000);
        }
      } catch (InterruptedException e) {
        return;
      } catch (IOException | RuntimeException | Error e) { // not even for want of memory this ends
        LOG.debug("A report was not taken", e);
      }
    }
  }

  /** Hears no more. */
  public void end() {
    interrupt();
    socket.close();
  }

  /** Whether the application has reported of late. */
  public boolean hears(ApplicationId id) {
    Heard job = heard.get(id);
    return job != null && clockMs.getAsLong() - job.lastMs < SILENT_MS;
  }

  /** Looks at one packet, and tells the core what it says if that is to be believed. */
  void take(byte[] data, int length) {
    Report report;
    try {
      report = Report.read(data, length);
    } catch (IOException e) {
      metrics.malformed.incr();
      return;
    }
    ApplicationAttemptId attempt =
        ApplicationAttemptId.newInstance(ApplicationId.newInstance(report.clusterTimestamp, report.application), report.attempt);
    int held = containers.applyAsInt(attempt);
    if (held < 0 || !isSigned(attempt, report.keyId, data, length)) {
      metrics.forged.incr();
      return;
    }
    Heard job = heard.computeIfAbsent(attempt.getApplicationId(), id -> new Heard());
    if (!job.isNew(report)) {
      metrics.old.incr();
      return;
    }
    if (!job.isWithin(2 + 2 * (held / JobReport.MOST_TASKS), clockMs.getAsLong())) {
      metrics.excess.incr();
      return;
    }
    FactWriter listener = facts.get();
    if (listener != null) {
      if (report instanceof JobReport) {
        tell(listener, attempt, (JobReport) report);
      } else if (report instanceof StageReport) {
        tell(listener, attempt.getApplicationId(), (StageReport) report);
      } else {
        ((ExecutorReport) report).executors.forEach((container, worth) ->
            listener.executor(ContainerId.newContainerId(attempt, container), worth));
      }
    }
    metrics.taken.incr();
    metrics.takenBytes.incr(length);
    forgetOthers();
  }

  private boolean isSigned(ApplicationAttemptId attempt, int keyId, byte[] data, int length) {
    try {
      byte[] secret = secrets.retrievePassword(new AMRMTokenIdentifier(attempt, keyId));
      return Report.isSigned(data, length, secret) || Report.isSigned(data, length, Report.secretOfOthers(secret));
    } catch (SecretManager.InvalidToken e) {
      return false;
    }
  }

  private static void tell(FactWriter listener, ApplicationAttemptId attempt, JobReport report) {
    ApplicationId id = attempt.getApplicationId();
    listener.tasks(id, Type.MAP.priority, report.mapsTotal, report.mapsDone);
    listener.tasks(id, Type.REDUCE.priority, report.reducesTotal, report.reducesDone);
    for (JobReport.Task task : report.tasks) {
      ContainerId container = ContainerId.newContainerId(attempt, task.container);
      boolean isMap = task.phase.compareTo(JobReport.Phase.FETCH) < 0;
      listener.progress(container, isMap ? task.progress : TaskReporter.ofReduce(task.progress));
      if (listener.lends() && isMap) {
        TaskReporter.map(listener, container, task.progress, report.reducesTotal > 0);
      } else if (listener.lends() && report.mapsDone < report.mapsTotal) {
        TaskReporter.reduce(listener, container, task.fetched, report.mapsDone, report.mapsTotal);
      }
    }
  }

  private static void tell(FactWriter listener, ApplicationId id, StageReport report) {
    int flags = report.more ? 3 : 1;
    for (StageReport.Stage stage : report.stages) {
      listener.stage(id, flags, stage.priority, stage.tasks, stage.running, stage.done, stage.eachMs, stage.slots);
      flags &= ~1;
    }
  }

  /** Keeps nothing of applications that are gone; now and then is enough. */
  private void forgetOthers() {
    long now = clockMs.getAsLong();
    if (now - forgottenMs > FORGET_INTERVAL_MS) {
      forgottenMs = now;
      heard.entrySet().removeIf(job -> containers.applyAsInt(job.getValue().attempt(job.getKey())) < 0);
    }
  }

  /** What was heard of one job. */
  private static final class Heard {
    private int attempt;
    private long number = Long.MIN_VALUE;
    private long second;
    private int inSecond;
    /** When it reported last. */
    private volatile long lastMs;

    ApplicationAttemptId attempt(ApplicationId id) {
      return ApplicationAttemptId.newInstance(id, attempt);
    }

    /** Takes note of the report, unless it is not later than the last one. */
    boolean isNew(Report report) {
      if (report.attempt < attempt || report.attempt == attempt && report.number <= number) {
        return false;
      }
      attempt = report.attempt;
      number = report.number;
      return true;
    }

    /** Takes note of the time, unless there were as many as may be in this second. */
    boolean isWithin(int mostInSecond, long nowMs) {
      long now = TimeUnit.MILLISECONDS.toSeconds(nowMs);
      inSecond = now == second ? inSecond + 1 : 1;
      second = now;
      if (inSecond > mostInSecond) {
        return false;
      }
      lastMs = nowMs;
      return true;
    }
  }
}
