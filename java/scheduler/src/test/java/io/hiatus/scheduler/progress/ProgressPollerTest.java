package io.hiatus.scheduler.progress;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.junit.Assert.assertEquals;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.io.ByteArrayInputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** What MapReduce jobs say of their tasks reaches the core; what they do not say, or say wrongly, harms nobody. */
public class ProgressPollerTest {
  private final Map<String, String> answers = new ConcurrentHashMap<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final RMApp app = mock(RMApp.class, RETURNS_DEEP_STUBS);
  private HttpServer master;
  private final Configuration conf = new Configuration(false);
  private MockCluster cluster;
  private FakeApp job;
  private ProgressPoller poller;

  @Before
  public void start() throws Exception {
    master = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    serve(master);
    conf.set(HiatusConfiguration.PROGRESS_TIMEOUT_MS, "30000");
    cluster = MockCluster.with(more -> {
      more.set(HiatusConfiguration.PROGRESS_INTERVAL_MS, "0");
      more.set(hiatus("policy"), "hfsp");
    });
    cluster.node(8 * 1024, 16);
    job = cluster.run("default");
    job.ask(2, 1024, MapReduceMaster.Type.REDUCE.priority, "");
    cluster.rounds(3);
    assertEquals(2, job.held().size());
    when(app.getApplicationId()).thenReturn(job.id());
    when(app.getApplicationType()).thenReturn("MAPREDUCE");
    when(app.getState()).thenReturn(RMAppState.RUNNING);
    registers("127.0.0.1");
    poller = new ProgressPoller(() -> Collections.singletonList(app), cluster::facts, id -> false,
        id -> MasterTls.of(cluster.context().getProxyCAManager().getProxyCA(), id), new HiatusConfiguration(conf));
  }

  private void serve(HttpServer server) {
    server.createContext("/", exchange -> {
      String path = exchange.getRequestURI().getPath();
      requests.add(path);
      byte[] answer = answers.getOrDefault(path, "").getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(answers.containsKey(path) ? 200 : 302, answer.length == 0 ? -1 : answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    server.start();
  }

  private void registers(String nodeOfMaster) {
    when(app.getOriginalTrackingUrl()).thenReturn("http://127.0.0.1:" + master.getAddress().getPort() + "/");
    when(app.getCurrentAppAttempt().getMasterContainer().getNodeId().getHost()).thenReturn(nodeOfMaster);
  }

  @After
  public void stop() {
    master.stop(0);
    cluster.close();
  }

  private String path(String below) {
    return "/ws/v1/mapreduce/jobs/" + job.id().toString().replace("application", "job") + below;
  }

  private String task(int number) {
    return job.id().toString().replace("application", "task") + "_r_00000" + number;
  }

  private void says(int reduces, int done, double progress) {
    answers.put(path(""), "{'job':{'mapsTotal':7,'mapsCompleted':7,'reducesTotal':" + reduces + ",'reducesCompleted':" + done
        + "}}");
    String running = "{'id':'" + task(1) + "','type':'REDUCE','state':'RUNNING','startTime':5,'progress':" + progress + "}";
    String waiting = "{'id':'" + task(2) + "','type':'REDUCE','state':'SCHEDULED','startTime':6,'progress':0}";
    answers.put(path("/tasks"), "{'tasks':{'task':[" + waiting + "," + running + "]}}");
    ContainerId container = job.held().get(0);
    answers.put(path("/tasks/" + task(1) + "/attempts"), "{'taskAttempts':{'taskAttempt':["
        + "{'state':'FAILED','assignedContainerId':'container_1_0001_01_000009'},"
        + "{'state':'RUNNING','assignedContainerId':'" + container + "'}]}}");
    answers.replaceAll((path, text) -> text.replace('\'', '"'));
  }

  /** Its reduces, as the core explains them. */
  private JsonNode reduces() throws Exception {
    cluster.beat();
    return cluster.scheduler().operatorService().explainNow().whole().at("/jobs/0/phases/0");
  }

  @Test
  public void theCoreLearnsOfTasksNotAskedForYetAndOfProgress() throws Exception {
    assertEquals("before", 2, reduces().path("tasks").asInt());
    says(9, 0, 75);
    poller.round();
    JsonNode told = reduces();
    assertEquals(told.toString(), 9, told.path("tasks").asInt());
    assertEquals(told.toString(), 7, told.path("unasked").asInt());
    assertEquals(told.toString(), 0.25, told.at("/progress/0").asDouble(), 1e-9);
  }

  @Test
  public void tasksDoneBeforeAnybodySawThemAreNotStillToDo() throws Exception {
    says(9, 5, 75);
    poller.round();
    assertEquals("two run, and of five done two at most may be these", 6, reduces().path("tasks").asInt());
  }

  @Test
  public void aReduceThatStillFetchesAndSortsHasNotBegun() throws Exception {
    says(9, 0, 66);
    poller.round();
    assertEquals("gap 17", 0, reduces().path("progress").size());
    says(9, 0, 70);
    poller.round();
    assertEquals(0.1, reduces().at("/progress/0").asDouble(), 1e-9);
  }

  @Test
  public void aContainerIsAskedForOnce() throws Exception {
    says(9, 0, 75);
    poller.round();
    says(9, 0, 83.3333333333);
    poller.round();
    assertEquals(0.5, reduces().at("/progress/0").asDouble(), 1e-9);
    assertEquals(1, requests.stream().filter(path -> path.endsWith("/attempts")).count());
  }

  @Test
  public void whoDoesNotAnswerIsLeftAloneForAWhileAndAskedAgain() throws Exception {
    poller.round();
    poller.round();
    assertEquals("sent elsewhere, as by a master that does not know us", 1, requests.size());
    answers.put(path(""), "no JSON");
    poller.round();
    assertEquals(2, requests.size());
    says(9, 0, 75);
    for (int round = 0; round < 3; round++) {
      poller.round();
    }
    assertEquals(9, reduces().path("tasks").asInt());
  }

  /** A master's filter lets nobody in but the web proxy, and sends all others there. */
  @Test
  public void whoAnswersTheWebProxyOnlyIsAskedByWayOfThat() throws Exception {
    says(9, 0, 75);
    new HashMap<>(answers).forEach((path, answer) -> {
      answers.remove(path);
      answers.put("/proxy/" + job.id() + path, answer);
    });
    poller.round();
    poller.round();
    poller.round();
    assertEquals("where the proxy is the ResourceManager there is no other way", 2, reduces().path("tasks").asInt());
    conf.set(YarnConfiguration.PROXY_ADDRESS, "127.0.0.1:" + master.getAddress().getPort());
    for (int round = 0; round < 9; round++) {
      poller.round();
    }
    assertEquals(9, reduces().path("tasks").asInt());
    requests.clear();
    poller.round();
    assertEquals("from then on", 2, requests.stream().filter(path -> path.startsWith("/proxy/" + job.id() + "/ws/v1/")).count());
    assertEquals(2, requests.size());
  }

  /** Serves HTTPS with what the ResourceManager has made for an application. */
  private void servesWithCertificateOf(ApplicationId id) throws Exception {
    char[] password = "secret".toCharArray();
    KeyStore made = KeyStore.getInstance("JKS");
    made.load(new ByteArrayInputStream(cluster.context().getProxyCAManager().getProxyCA().createChildKeyStore(id, "secret")), password);
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(made, password);
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(keys.getKeyManagers(), null, null);
    HttpsServer secure = HttpsServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    secure.setHttpsConfigurator(new HttpsConfigurator(tls));
    master.stop(0);
    master = secure;
    serve(secure);
    when(app.getOriginalTrackingUrl()).thenReturn("https://127.0.0.1:" + secure.getAddress().getPort() + "/");
  }

  @Test
  public void aMasterOnHttpsIsKnownByTheCertificateThatTheResourceManagerMadeForIt() throws Exception {
    says(9, 0, 75);
    servesWithCertificateOf(job.id());
    poller.round();
    assertEquals(9, reduces().path("tasks").asInt());
  }

  @Test
  public void noneIsKnownByAnotherApplicationsCertificate() throws Exception {
    says(9, 0, 75);
    servesWithCertificateOf(ApplicationId.newInstance(job.id().getClusterTimestamp(), 99));
    poller.round();
    assertEquals(Collections.emptyList(), requests);
    assertEquals(2, reduces().path("tasks").asInt());
  }

  @Test
  public void nonsenseIsNoAnswerAndEndsNothing() throws Exception {
    when(app.getOriginalTrackingUrl()).thenReturn("ftp://127.0.0.1/");
    poller.round();
    registers("127.0.0.1");
    says(9, 0, 75);
    for (String answer : new String[] {"[]", "7", "{\"job\": {\"mapsTotal\": -1}}", "{\"job\": {\"mapsTotal\": 1e99}}"}) {
      answers.put(path(""), answer);
      int before = requests.size();
      while (requests.size() == before) {
        poller.round();
      }
    }
    assertEquals(2, reduces().path("tasks").asInt());
  }

  @Test
  public void nobodyIsAskedButRunningMapReduceJobsOnTheirOwnNode() throws Exception {
    says(9, 0, 75);
    registers("127.0.0.9");
    poller.round();
    registers("127.0.0.1");
    when(app.getApplicationType()).thenReturn("SPARK");
    poller.round();
    when(app.getApplicationType()).thenReturn("MAPREDUCE");
    when(app.getState()).thenReturn(RMAppState.ACCEPTED);
    poller.round();
    assertEquals(Collections.emptyList(), requests);
  }
}
