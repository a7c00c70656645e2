package io.hiatus.scheduler.progress;

import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import com.sun.net.httpserver.HttpServer;
import io.hiatus.report.JobReport;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.facts.FactWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.token.SecretManager;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;

/**
 * What it costs the ResourceManager to know where the tasks of running jobs are, by asking and by being told: gradle :scheduler:feederBench
 * -Pbench="JOBS SECONDS". Once with jobs whose reduces wait, once with jobs without reduces; each has 20 tasks that run. CPU time is that
 * of the feeder's thread.
 */
public final class FeederBench {
  private static final int MAPS = 16;
  private static final int REDUCES = 4;
  private static final int TASKS = MAPS + REDUCES;

  private final int jobs;
  private final int seconds;
  private final FactWriter facts = new FactWriter(true, id -> true);
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

  private FeederBench(int jobs, int seconds) {
    this.jobs = jobs;
    this.seconds = seconds;
    facts.lends(true);
    for (int job = 1; job <= jobs; job++) {
      facts.app(attempt(job).getApplicationId(), "root.default", "user", 0, "MAPREDUCE", Collections.emptySet(), false, 0);
      for (int task = 1; task <= TASKS; task++) {
        facts.containers.intern(ContainerId.newContainerId(attempt(job), task));
      }
    }
  }

  /** Prints the table. */
  public static void main(String[] args) throws Exception {
    FeederBench bench =
        new FeederBench(args.length > 0 ? Integer.parseInt(args[0]) : 200, args.length > 1 ? Integer.parseInt(args[1]) : 30);
    System.out.printf("%d jobs, %d s%n", bench.jobs, bench.seconds);
    System.out.println("| feeder | jobs | requests or packets/s | bytes/s | CPU, % of a core |\n| --- | --- | --- | --- | --- |");
    bench.told(true);
    bench.told(false);
    bench.asked(true);
    bench.asked(false);
    System.exit(0);
  }

  private static ApplicationAttemptId attempt(int job) {
    return ApplicationAttemptId.newInstance(ApplicationId.newInstance(1, job), 1);
  }

  private void row(String feeder, boolean reduces, long begunNanos, long begunCpu, Thread thread, long requests, long bytes) {
    double elapsed = (System.nanoTime() - begunNanos) / 1e9;
    double cpu = (threads.getThreadCpuTime(thread.getId()) - begunCpu) / 1e9;
    System.out.printf("| %s | %d %s | %.1f | %.0f | %.2f |%n", feeder, jobs, reduces ? "with waiting reduces" : "without reduces",
        requests / elapsed, bytes / elapsed, 100 * cpu / elapsed);
  }

  private void told(boolean reduces) throws Exception {
    byte[] secret = new byte[20];
    SecretManager<AMRMTokenIdentifier> secrets = new SecretManager<AMRMTokenIdentifier>() {
      @Override
      protected byte[] createPassword(AMRMTokenIdentifier id) {
        return createPassword(id.getBytes(), createSecretKey(secret)); // as YARN's own does
      }

      @Override
      public byte[] retrievePassword(AMRMTokenIdentifier id) {
        return createPassword(id);
      }

      @Override
      public AMRMTokenIdentifier createIdentifier() {
        return new AMRMTokenIdentifier();
      }
    };
    ReportReceiver receiver = new ReportReceiver(new InetSocketAddress("127.0.0.1", 0), secrets, id -> TASKS, () -> facts,
        Time::monotonicNow);
    receiver.start();
    long sent = 0;
    long bytes = 0;
    long begun = System.nanoTime();
    long cpu = threads.getThreadCpuTime(receiver.getId());
    try (DatagramSocket socket = new DatagramSocket()) {
      for (int second = 0; second < seconds; second++) {
        for (int job = 1; job <= jobs; job++) {
          if (reduces || (second + job) % 5 == 0) { // ReportingPreemptionPolicy's pace
            byte[] packet = report(job, second, reduces).signed(secrets.retrievePassword(new AMRMTokenIdentifier(attempt(job), 1)));
            socket.send(new DatagramPacket(packet, packet.length, InetAddress.getByName("127.0.0.1"), receiver.port()));
            sent++;
            bytes += packet.length;
          }
        }
        facts.take();
        Thread.sleep(Math.max(1, (begun + (second + 1) * 1_000_000_000L - System.nanoTime()) / 1_000_000));
      }
    }
    row("jobs report", reduces, begun, cpu, receiver, sent, bytes);
    receiver.end();
    receiver.join();
  }

  private static JobReport report(int job, long number, boolean reduces) {
    List<JobReport.Task> tasks = new ArrayList<>();
    for (int task = 1; task <= TASKS; task++) {
      boolean isReduce = reduces && task <= REDUCES;
      tasks.add(new JobReport.Task(task, isReduce ? JobReport.Phase.FETCH : JobReport.Phase.MAP, 0.1f, isReduce ? 30 : 0));
    }
    return new JobReport(1, job, 1, 1, number, 100, 30, reduces ? REDUCES : 0, 0, tasks);
  }

  private void asked(boolean reduces) throws Exception {
    AtomicLong requests = new AtomicLong();
    AtomicLong bytes = new AtomicLong();
    HttpServer master = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    master.setExecutor(Executors.newFixedThreadPool(2, work -> {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      return thread;
    }));
    master.createContext("/", exchange -> {
      byte[] answer = answer(exchange.getRequestURI().toString(), reduces).replace('\'', '"').getBytes(StandardCharsets.UTF_8);
      requests.incrementAndGet();
      bytes.addAndGet(answer.length);
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    master.start();
    List<RMApp> apps = new ArrayList<>();
    for (int job = 1; job <= jobs; job++) {
      RMApp app = mock(RMApp.class, withSettings().defaultAnswer(RETURNS_DEEP_STUBS).stubOnly());
      when(app.getApplicationId()).thenReturn(attempt(job).getApplicationId());
      when(app.getApplicationType()).thenReturn("MAPREDUCE");
      when(app.getState()).thenReturn(RMAppState.RUNNING);
      when(app.getOriginalTrackingUrl()).thenReturn("http://127.0.0.1:" + master.getAddress().getPort() + "/");
      when(app.getCurrentAppAttempt().getMasterContainer().getNodeId().getHost()).thenReturn("127.0.0.1");
      apps.add(app);
    }
    Configuration conf = new Configuration(false);
    conf.setLong(HiatusConfiguration.PROGRESS_INTERVAL_MS, 1_000);
    conf.setLong(HiatusConfiguration.PROGRESS_REQUESTS_PER_SECOND, 1_000);
    ProgressPoller poller = new ProgressPoller(() -> apps, () -> facts, id -> false, id -> null, new HiatusConfiguration(conf));
    poller.start();
    long begun = System.nanoTime();
    for (int second = 0; second < seconds; second++) {
      Thread.sleep(1_000);
      facts.take();
    }
    row("jobs asked, at most 1,000 requests/s", reduces, begun, 0, poller, requests.get(), bytes.get());
    poller.end();
    poller.join();
    master.stop(0);
  }

  /** What an ApplicationMaster would answer, some of its unread fields left out. */
  private static String answer(String request, boolean reduces) {
    String job = request.replaceAll(".*jobs/job_1_(\\d+).*", "$1");
    if (request.endsWith("/attempts")) {
      int task = Integer.parseInt(request.replaceAll(".*_(\\d+)/attempts", "$1"));
      return "{'taskAttempts':{'taskAttempt':[{'state':'RUNNING','assignedContainerId':'"
          + ContainerId.newContainerId(attempt(Integer.parseInt(job)), task) + "'}]}}";
    }
    boolean asksReduces = request.endsWith("type=r");
    if (asksReduces || request.endsWith("type=m")) {
      List<String> tasks = new ArrayList<>();
      for (int task = asksReduces ? 1 : REDUCES + 1; task <= (asksReduces ? REDUCES : TASKS); task++) {
        tasks.add("{'id':'task_1_" + job + "_" + (asksReduces ? "r" : "m") + "_" + String.format("%06d", task)
            + "','state':'RUNNING','startTime':5,'progress':10,'finishTime':0,"
            + "'elapsedTime':1234567,'type':'MAP','successfulAttempt':'','status':''}");
      }
      return "{'tasks':{'task':[" + String.join(",", tasks) + "]}}";
    }
    return "{'job':{'mapsTotal':100,'mapsCompleted':30,'reducesTotal':" + (reduces ? REDUCES : 0) + ",'reducesCompleted':0}}";
  }
}
