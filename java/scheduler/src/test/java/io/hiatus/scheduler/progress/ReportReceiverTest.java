package io.hiatus.scheduler.progress;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.hiatus.report.JobReport;
import io.hiatus.report.JobReport.Phase;
import io.hiatus.report.JobReport.Task;
import io.hiatus.report.Report;
import io.hiatus.report.StageReport;
import io.hiatus.report.StageReport.Stage;
import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.test.MetricsAsserts;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** What a job reports by itself, signed with its own token, lets its reduces lend; what anybody else says in its name does nothing. */
public class ReportReceiverTest {
  private static final int NODE_MB = 2 * 256 + 3 * 1024;

  private MockCluster cluster;
  private FakeApp job;
  private FakeApp other;
  private ReportReceiver receiver;
  private ContainerId reduce;
  private List<ContainerId> maps;
  private long number;
  private long nowMs = 1_000_000;

  @Before
  public void start() throws Exception {
    cluster = MockCluster.with(conf -> {
      conf.set(HiatusConfiguration.PROGRESS_INTERVAL_MS, "0");
      conf.set(hiatus("policy"), "fifo");
      conf.set(hiatus("preemption"), "wait");
      conf.set(hiatus("lend"), "maps");
      conf.set(hiatus("max-suspended-memory"), "1");
    });
    cluster.node(NODE_MB, 16);
    job = mapReduce();
    other = mapReduce();
    ReduceBesideMaps running = ReduceBesideMaps.start(cluster, job);
    reduce = running.reduce;
    maps = running.maps;
    receiver = new ReportReceiver(new InetSocketAddress("127.0.0.1", 0), cluster.context().getAMRMTokenSecretManager(), id -> {
      if (cluster.scheduler().getApplicationAttempt(id) == null) {
        return -1;
      }
      return cluster.scheduler().getApplicationAttempt(id).getLiveContainersMap().size();
    }, cluster::facts, () -> nowMs);
  }

  private FakeApp mapReduce() throws Exception {
    return cluster.started(cluster.submit(cluster.builder("default", "user").withAppType("MAPREDUCE").build()));
  }

  @After
  public void stop() {
    receiver.end();
    cluster.close();
  }

  private static ApplicationAttemptId attempt(FakeApp app) {
    return app.app().getCurrentAppAttempt().getAppAttemptId();
  }

  private static AMRMTokenIdentifier token(FakeApp app) throws Exception {
    return app.app().getCurrentAppAttempt().getAMRMToken().decodeIdentifier();
  }

  private static byte[] secret(FakeApp app) {
    return app.app().getCurrentAppAttempt().getAMRMToken().getPassword();
  }

  private JobReport report(FakeApp of, int mapsTotal, int mapsDone, Task... tasks) throws Exception {
    return new JobReport(of.id().getClusterTimestamp(), of.id().getId(), attempt(of).getAttemptId(), token(of).getKeyId(), number++,
        mapsTotal, mapsDone, 1, 0, Arrays.asList(tasks));
  }

  private Task[] waits() {
    return new Task[] {new Task(reduce.getContainerId(), Phase.FETCH, 1f / 7, 3),
        new Task(maps.get(0).getContainerId(), Phase.MAP, 0.1f, 0),
        new Task(maps.get(1).getContainerId(), Phase.MAP, 0.2f, 0)};
  }

  private void take(byte[] packet) {
    nowMs += 1_000;
    receiver.take(packet, packet.length);
  }

  private static long count(String metric) {
    return MetricsAsserts.getLongCounter(metric, MetricsAsserts.getMetrics(ReportMetrics.NAME));
  }

  private ExecutionType reduceIs() {
    return cluster.container(reduce).getExecutionType();
  }

  /** What the core knows of tasks: how many there are, and how far. */
  private String known() throws Exception {
    cluster.beat();
    StringBuilder known = new StringBuilder();
    for (JsonNode told : cluster.scheduler().operatorService().explainNow().whole().at("/jobs")) {
      told.path("phases").forEach(phase -> known.append(phase.path("tasks")).append(phase.path("progress")));
    }
    return known.toString();
  }

  @Test
  public void whatAJobReportsLetsItsReduceLendAndGoOn() throws Exception {
    assertFalse(receiver.hears(job.id()));
    MockCluster.until("the reduce lends its room", () -> {
      take(report(job, 7, 3, waits()).signed(secret(job)));
      cluster.rounds(1);
      return reduceIs() == ExecutionType.OPPORTUNISTIC;
    });
    MockCluster.until("a map has borrowed it", () -> {
      cluster.rounds(1);
      return job.held().size() == 4;
    });
    assertTrue("who reports need not be asked", receiver.hears(job.id()));
    assertFalse(receiver.hears(other.id()));
    maps.forEach(job::finish);
    MockCluster.until("enough maps are done", () -> {
      cluster.rounds(1);
      return reduceIs() == ExecutionType.GUARANTEED;
    });
  }

  @Test
  public void whatARealSocketBringsIsTaken() throws Exception {
    receiver.start();
    try (DatagramSocket socket = new DatagramSocket()) {
      long before = count("Taken");
      MockCluster.until("a report is taken", () -> {
        byte[] packet = report(job, 7, 3).signed(secret(job));
        socket.send(new DatagramPacket(packet, packet.length, InetAddress.getByName("127.0.0.1"), receiver.port()));
        return count("Taken") > before;
      });
    }
    receiver.end();
    receiver.join();
  }

  @Test
  public void nobodySpeaksForAnotherJob() throws Exception {
    String before = known();
    byte[] signedByAnother = report(job, 7, 3, waits()).signed(secret(other));
    take(signedByAnother);
    take(report(job, 7, 3, waits()).signed(new byte[20]));
    byte[] changed = report(job, 7, 3, waits()).signed(secret(job));
    changed[changed.length - 33] ^= 1; // of what the last task has fetched
    take(changed);
    byte[] ofNobody = new JobReport(1, 77, 1, token(job).getKeyId(), 9, 7, 3, 1, 0, Collections.emptyList()).signed(secret(job));
    take(ofNobody);
    byte[] withAnotherKey = new JobReport(job.id().getClusterTimestamp(), job.id().getId(), 1, token(job).getKeyId() + 7, 9, 7, 3, 1, 0,
        Collections.emptyList()).signed(secret(job));
    take(withAnotherKey);
    assertEquals(5, count("Forged"));
    assertEquals(0, count("Taken"));
    assertEquals(before, known());
    assertFalse(receiver.hears(job.id()));
  }

  @Test
  public void aJobSpeaksOfItsOwnContainersOnly() throws Exception {
    // The other job names the numbers of this one's containers: they are read as its own, which it does not have.
    for (int i = 0; i < 10; i++) {
      take(report(other, 7, 3, waits()).signed(secret(other)));
      cluster.rounds(1);
    }
    assertEquals(10, count("Taken"));
    assertEquals(ExecutionType.GUARANTEED, reduceIs());
  }

  @Test
  public void whatCannotBeIsRefusedWhole() throws Exception {
    String before = known();
    byte[] secret = secret(job);
    long container = reduce.getContainerId();
    take(report(job, -1, 0).signed(secret));
    take(report(job, 7, 8).signed(secret));
    take(report(job, Integer.MAX_VALUE, -5).signed(secret));
    for (float progress : new float[] {-0.1f, 1.1f, Float.NaN, Float.POSITIVE_INFINITY}) {
      take(report(job, 7, 3, new Task(container, Phase.FETCH, progress, 3)).signed(secret));
    }
    take(report(job, 7, 3, new Task(container, Phase.FETCH, 0.1f, 8)).signed(secret));
    take(report(job, 7, 3, new Task(container, Phase.FETCH, 0.1f, -1)).signed(secret));
    take(report(job, 7, 3, new Task(0, Phase.FETCH, 0.1f, 3)).signed(secret));
    assertEquals(10, count("Malformed"));
    byte[] whole = report(job, 7, 3, waits()).signed(secret);
    for (int length = 0; length < whole.length; length++) {
      take(Arrays.copyOf(whole, length));
    }
    Random random = new Random(15);
    for (int i = 0; i < 2_000; i++) {
      byte[] noise = i % 2 == 0 ? new byte[random.nextInt(Report.MOST_BYTES + 1)] : whole.clone();
      if (i % 2 == 0) {
        random.nextBytes(noise);
      } else {
        noise[random.nextInt(noise.length)] ^= 1 << random.nextInt(8);
      }
      take(noise);
    }
    take(new byte[Report.MOST_BYTES + 1]);
    assertEquals(0, count("Taken"));
    assertEquals(before, known());
  }

  private byte[] stages(FakeApp of, Stage... stages) throws Exception {
    return stages(of, secret(of), stages);
  }

  /** A report about that application, signed with that secret. */
  private byte[] stages(FakeApp of, byte[] secret, Stage... stages) throws Exception {
    return new StageReport(of.id().getClusterTimestamp(), of.id().getId(), attempt(of).getAttemptId(), token(of).getKeyId(), number++, true,
        Arrays.asList(stages)).signed(secret);
  }

  /** Work that the job has left, in seconds of a container of 1024 MB. */
  private double left(FakeApp of) throws Exception {
    cluster.beat();
    return cluster.explained(of).path("remaining_s").asDouble() * NODE_MB / 1024;
  }

  @Test
  public void anApplicationIsAsLargeAsItsStages() throws Exception {
    other.ask(1, 1024, 1, "");
    assertEquals("a task takes a minute as long as nothing is known", 60, left(other), 0.1);
    take(stages(other, new Stage(1, 100, 4, 0, 0, 2)));
    assertEquals("no task is done", 60, left(other), 0.1);
    take(stages(other, new Stage(1, 100, 4, 20, 10_000, 2), new Stage(1, 8, 0, 0, 0, 2)));
    assertEquals("78 tasks and 8, two at a time", 430, left(other), 0.1);
    assertEquals(2, count("Taken"));
  }

  @Test
  public void aDriverThatIsNotItsApplicationMasterReportsWithATokenOfItsOwn() throws Exception {
    other.ask(1, 1024, 1, "");
    take(stages(other, Report.secretOfOthers(secret(other)), new Stage(StageReport.ANY_CONTAINER, 100, 4, 20, 10_000, 2)));
    assertEquals(390, left(other), 0.1);
  }

  @Test
  public void stagesThatCannotBeOrAreAnothersAreRefused() throws Exception {
    Stage stage = new Stage(1, 100, 4, 20, 10_000, 2);
    take(stages(job, stage, new Stage(1, 100, 4, -20, 10_000, 2)));
    take(stages(job, new Stage(1, Integer.MAX_VALUE, 0, 20, 10_000, 2)));
    take(stages(job, new Stage(-2, 100, 4, 20, 10_000, 2)));
    byte[] next = stages(job, stage);
    next[3] = 4; // of a version that is to come
    take(next);
    assertEquals(4, count("Malformed"));
    take(stages(job, secret(other), stage));
    take(stages(job, Report.secretOfOthers(secret(other)), stage));
    assertEquals(2, count("Forged"));
    byte[] first = stages(job, stage);
    for (int i = 0; i < 1_000; i++) {
      byte[] packet = stages(job, stage);
      receiver.take(packet, packet.length);
    }
    take(first);
    assertEquals(998, count("Excess"));
    assertEquals(1, count("Old"));
    assertEquals(2, count("Taken"));
  }

  @Test
  public void whatWasSaidBeforeIsNotSaidAgain() throws Exception {
    byte[] first = report(job, 7, 3).signed(secret(job));
    byte[] second = report(job, 7, 4).signed(secret(job));
    take(second);
    take(second);
    take(first);
    assertEquals(1, count("Taken"));
    assertEquals(2, count("Old"));
  }

  @Test
  public void aJobThatFloodsIsHeardAsOftenAsItsTasksNeed() throws Exception {
    for (int i = 0; i < 1_000; i++) {
      byte[] packet = report(job, 7, 3, waits()).signed(secret(job));
      receiver.take(packet, packet.length);
    }
    assertEquals(2, count("Taken"));
    assertEquals(998, count("Excess"));
    take(report(other, 7, 3).signed(secret(other)));
    assertEquals("others are heard", 3, count("Taken"));
  }

  @Test
  public void whoIsSilentIsAskedAgain() throws Exception {
    take(report(job, 7, 3).signed(secret(job)));
    assertTrue(receiver.hears(job.id()));
    nowMs += 60_000;
    assertFalse(receiver.hears(job.id()));
  }
}
