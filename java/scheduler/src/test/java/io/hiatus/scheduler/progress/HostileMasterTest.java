package io.hiatus.scheduler.progress;

import static io.hiatus.scheduler.MockCluster.until;
import static io.hiatus.scheduler.progress.HostileMaster.OK;
import static io.hiatus.scheduler.progress.HostileMaster.endless;
import static io.hiatus.scheduler.progress.HostileMaster.once;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.progress.HostileMaster.Behaviour;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.lang3.StringUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.util.concurrent.ExecutorHelper;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;
import org.slf4j.LoggerFactory;

/** Whatever an ApplicationMaster answers, the ResourceManager lives, learns nothing wrong, and asks the others on. */
public class HostileMasterTest {
  private static final String HONEST = "{\"job\":{\"mapsTotal\":7,\"mapsCompleted\":7,\"reducesTotal\":0,\"reducesCompleted\":0}}";

  /** What is endless would last till then. */
  @Rule
  public final Timeout timeout = new Timeout(120, TimeUnit.SECONDS);
  private final Configuration conf = new Configuration(false);
  private final FactWriter facts = new FactWriter(true, id -> true);
  private final List<RMApp> apps = new ArrayList<>();
  private final List<HostileMaster> masters = new ArrayList<>();
  private ProgressPoller poller;

  private ProgressPoller poller() {
    if (conf.get(HiatusConfiguration.PROGRESS_TIMEOUT_MS) == null) {
      conf.setLong(HiatusConfiguration.PROGRESS_TIMEOUT_MS, 1_000);
    }
    conf.setLong(HiatusConfiguration.PROGRESS_REQUESTS_PER_SECOND, 1_000);
    poller = new ProgressPoller(() -> apps, () -> facts, id -> false, id -> null, new HiatusConfiguration(conf));
    return poller;
  }

  private HostileMaster job(Behaviour behaviour) throws IOException {
    HostileMaster master = new HostileMaster(behaviour);
    masters.add(master);
    ApplicationId id = ApplicationId.newInstance(1, masters.size());
    facts.app(id, "root.default", "user", 0, "MAPREDUCE", Collections.emptySet(), false, 0);
    RMApp app = mock(RMApp.class, RETURNS_DEEP_STUBS);
    when(app.getApplicationId()).thenReturn(id);
    when(app.getApplicationType()).thenReturn("MAPREDUCE");
    when(app.getState()).thenReturn(RMAppState.RUNNING);
    when(app.getOriginalTrackingUrl()).thenReturn(master.url());
    when(app.getCurrentAppAttempt().getMasterContainer().getNodeId()).thenReturn(NodeId.newInstance("127.0.0.1", 1));
    apps.add(app);
    facts.take();
    return master;
  }

  @After
  public void stop() throws IOException {
    for (HostileMaster master : masters) {
      master.close();
    }
  }

  /** One round with the one that behaves so: it ends, tells nothing, and leaves no connection open. */
  private HostileMaster withstands(Behaviour behaviour) throws Exception {
    HostileMaster master = job(behaviour);
    poller().round();
    assertTrue("it was asked", master.requests.size() > 0);
    assertTrue("it is not believed", facts.isEmpty());
    until("nobody listens to it any more", () -> master.speaking.get() == 0);
    return master;
  }

  @Test
  public void aHeaderThatDripsEndsAtTheDeadline() throws Exception {
    withstands(endless(OK + "X-Header: ", "x", 100));
  }

  @Test
  public void aBodyThatDripsEndsAtTheDeadline() throws Exception {
    withstands(endless(OK + "\r\n{\"job\":{\"a\":\"", "x", 20));
  }

  @Test
  public void chunksThatDripEndAtTheDeadline() throws Exception {
    withstands(endless(OK + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", 20));
  }

  @Test
  public void silenceEndsAtTheDeadline() throws Exception {
    withstands((out, in) -> in.read());
  }

  @Test
  public void aPromiseToGoOnAtOnceEndsAtTheDeadline() throws Exception {
    withstands(endless("", "HTTP/1.1 100 Continue\r\n\r\n", 1));
  }

  @Test
  public void endlessHeadersAreNotKept() throws Exception {
    conf.setLong(HiatusConfiguration.PROGRESS_TIMEOUT_MS, 30_000);
    assertTrue(withstands(endless(OK, StringUtils.repeat("X-Header: x\r\n", 1_000), 0)).sent.get() < 16 << 20);
    apps.clear();
    assertTrue(withstands(endless(OK + "X-Header: ", StringUtils.repeat('x', 10_000), 0)).sent.get() < 16 << 20);
  }

  /** Of 32 MiB only what fits into sockets' buffers is ever taken. */
  private void takesLittleOf(String before, String again) throws Exception {
    conf.setLong(HiatusConfiguration.PROGRESS_TIMEOUT_MS, 30_000);
    String chunk = StringUtils.repeat(again, (64 << 10) / again.length());
    HostileMaster master = withstands((out, in) -> {
      out.write((OK + "Content-Length: " + (32 << 20) + "\r\n\r\n" + before).getBytes("UTF-8"));
      for (int i = 0; i < 512; i++) {
        out.write(chunk.getBytes("UTF-8"));
      }
    });
    assertTrue("taken: " + master.sent.get(), master.sent.get() < 16 << 20);
  }

  @Test
  public void nestedBracketsAreNotFollowedFar() throws Exception {
    takesLittleOf("", "[");
    apps.clear();
    takesLittleOf("", "{\"job\":");
  }

  @Test
  public void wideAnswersAreNotReadFar() throws Exception {
    takesLittleOf("{\"tasks\":{\"task\":[[]", ",[]");
    apps.clear();
    takesLittleOf("{\"job\":{\"a\":1", ",\"mapsTotal\":1");
  }

  @Test
  public void hugeNumbersAndTextsAreNoNumbers() throws Exception {
    String job = OK + "\r\n{\"job\":{\"mapsTotal\":%s,\"mapsCompleted\":0,\"reducesTotal\":0,\"reducesCompleted\":0}}";
    for (String number : new String[] {StringUtils.repeat('9', 200_000), "1e999999999", "1.5", "-1", "\"NaN\"", "true", "null",
        "\"" + StringUtils.repeat('9', 200_000) + "\"", "[7]"}) {
      withstands(once(String.format(job, number)));
      apps.clear();
    }
  }

  @Test
  public void aRedirectLeadsNowhere() throws Exception {
    HostileMaster thirdParty = new HostileMaster(once(OK + "\r\n" + HONEST));
    masters.add(thirdParty);
    withstands(once("HTTP/1.1 302 Found\r\nLocation: " + thirdParty.url() + "/\r\nContent-Length: 0\r\n\r\n"));
    assertEquals(Collections.emptyList(), thirdParty.requests);
  }

  @Test
  public void nothingIsUnpacked() throws Exception {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(HONEST.getBytes("UTF-8"));
    }
    HostileMaster master = withstands((out, in) -> {
      out.write((OK + "Content-Encoding: gzip\r\nContent-Length: " + packed.size() + "\r\n\r\n").getBytes("UTF-8"));
      out.write(packed.toByteArray());
    });
    assertFalse("not asked for either", master.requests.toString().toLowerCase().contains("gzip"));
  }

  @Test
  public void itSaysNothingOfOthersContainers() throws Exception {
    String tasks = "{\"tasks\":{\"task\":[{\"id\":\"task_1_0001_m_000000\",\"state\":\"RUNNING\",\"startTime\":1,\"progress\":5}]}}";
    String attempts = "{\"taskAttempts\":{\"taskAttempt\":[{\"state\":\"RUNNING\",\"assignedContainerId\":\"%s\"}]}}";
    conf.setLong(HiatusConfiguration.PROGRESS_TIMEOUT_MS, 30_000);
    AtomicInteger asked = new AtomicInteger();
    String[] answers = {HONEST.replace("\"mapsCompleted\":7", "\"mapsCompleted\":0"), tasks,
        String.format(attempts, "container_1_0002_01_000003")};
    HostileMaster master = job((out, in) -> once(OK + "\r\n" + answers[asked.getAndIncrement() % 3]).speak(out, in));
    poller().round();
    String request = master.requests.stream().filter(line -> line.endsWith("/attempts HTTP/1.1")).findAny().orElse("none");
    assertTrue(request, request.contains("task_1_0001_m_000000"));
    facts.take(); // its own counts
    int requests = master.requests.size();
    poller.round();
    assertEquals("it has lied, and is left alone for a while", requests, master.requests.size());
  }

  @Test
  public void honestMastersAreServedWhileOthersDrip() throws Exception {
    conf.setLong(HiatusConfiguration.PROGRESS_INTERVAL_MS, 100);
    conf.setLong(HiatusConfiguration.PROGRESS_TIMEOUT_MS, 1_000);
    List<HostileMaster> dripping = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      dripping.add(job(endless(OK + "X-Header: ", "x", 20)));
    }
    HostileMaster honest = job(once(OK + "\r\n" + HONEST));
    poller();
    while (honest.requests.isEmpty()) {
      poller.round(); // newcomers are asked as time allows
    }
    int heard = count(honest);
    int wasted = dripping.stream().mapToInt(HostileMasterTest::count).sum();
    for (int round = 0; round < 10; round++) {
      poller.round();
    }
    int served = count(honest) - heard;
    // In each of the ten, but that a loaded machine may have it miss its deadline once or twice, and wait a round for it.
    assertTrue("most rounds: " + served, served >= 6 && served <= 10);
    int more = dripping.stream().mapToInt(HostileMasterTest::count).sum() - wasted;
    assertTrue("of 80 visits to the others, in their share of the time: " + more, more <= 10);
  }

  private static int count(HostileMaster master) {
    return (int) master.requests.stream().filter(line -> line.startsWith("GET")).count();
  }

  @Test
  public void aDeadlineThatWasNotNeededIsNoNews() throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(ExecutorHelper.class));
    conf.setLong(HiatusConfiguration.PROGRESS_TIMEOUT_MS, 500);
    HostileMaster honest = job(once(OK + "\r\n" + HONEST));
    poller().round();
    assertEquals(1, count(honest));
    Thread.sleep(600); // it would be over by now
    log.stopCapturing();
    assertEquals("", log.getOutput());
  }

  @Test
  public void notEvenAnErrorEndsThePoller() throws Exception {
    HostileMaster master = job(once(OK + "\r\n" + HONEST));
    conf.setLong(HiatusConfiguration.PROGRESS_INTERVAL_MS, 10);
    AtomicInteger failures = new AtomicInteger();
    poller();
    poller = new ProgressPoller(() -> {
      if (failures.incrementAndGet() < 3) {
        throw new OutOfMemoryError("as if");
      }
      return apps;
    }, () -> facts, id -> false, id -> null, new HiatusConfiguration(conf));
    poller.start();
    until("it asks on", () -> !master.requests.isEmpty());
    poller.end();
    poller.join();
  }

  @Test
  public void stoppingTheResourceManagerWaitsForNoMaster() throws Exception {
    HostileMaster master = new HostileMaster(endless(OK + "X-Header: ", "x", 20));
    masters.add(master);
    MockCluster cluster = MockCluster.with(more -> {
      more.setLong(HiatusConfiguration.PROGRESS_INTERVAL_MS, 20);
      more.setLong(HiatusConfiguration.PROGRESS_TIMEOUT_MS, 60_000);
    });
    cluster.node(2_048, 16);
    FakeApp app = cluster.started(cluster.submit(cluster.builder("default", "user").withAppType("MAPREDUCE").build()));
    app.master().allocate(AllocateRequest.newBuilder().responseId(1).trackingUrl(master.url()).build());
    until("the poller listens to it", () -> master.sent.get() > 100);
    long begun = System.nanoTime();
    cluster.close();
    assertTrue("not before the deadline of a minute", System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(50));
    until("and it is cut off", () -> master.speaking.get() == 0);
  }
}
