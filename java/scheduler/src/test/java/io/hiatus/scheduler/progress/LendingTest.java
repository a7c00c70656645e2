package io.hiatus.scheduler.progress;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.sun.net.httpserver.HttpServer;
import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** A reduce that waits for maps, as its ApplicationMaster's web service tells, lends its room to a map (Predoop). */
public class LendingTest {
  private HttpServer master;
  private MockCluster cluster;
  private FakeApp job;
  private ProgressPoller poller;
  private ContainerId reduce;
  private List<ContainerId> maps;
  /** What the ApplicationMaster says: maps done of seven, and the reduce's progress in percent. */
  private volatile int mapsDone = 3;
  private volatile double reduceProgress = 100.0 / 3 * 3 / 7;

  @Before
  public void start() throws Exception {
    cluster = MockCluster.with(conf -> {
      conf.set(HiatusConfiguration.PROGRESS_INTERVAL_MS, "0");
      conf.set(HiatusConfiguration.PROGRESS_TIMEOUT_MS, "30000");
      conf.set(HiatusConfiguration.PROGRESS_REQUESTS_PER_SECOND, "1000");
      conf.set(hiatus("policy"), "fifo");
      conf.set(hiatus("preemption"), "wait");
      conf.set(hiatus("lend"), "maps");
      conf.set(hiatus("min-run-ms"), "0");
      conf.set(hiatus("max-suspended-memory"), "1");
    });
    cluster.node(256 + 3 * 1024, 16);
    job = cluster.started(cluster.submit(cluster.builder("default", "user").withAppType("MAPREDUCE").build()));
    ReduceBesideMaps running = ReduceBesideMaps.start(cluster, job);
    reduce = running.reduce;
    maps = running.maps;
    master = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    master.createContext("/", exchange -> {
      byte[] answer = answer(exchange.getRequestURI().toString()).replace('\'', '"').getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    master.start();
    RMApp app = mock(RMApp.class, RETURNS_DEEP_STUBS);
    when(app.getApplicationId()).thenReturn(job.id());
    when(app.getApplicationType()).thenReturn("MAPREDUCE");
    when(app.getState()).thenReturn(RMAppState.RUNNING);
    when(app.getOriginalTrackingUrl()).thenReturn("http://127.0.0.1:" + master.getAddress().getPort() + "/");
    when(app.getCurrentAppAttempt().getMasterContainer().getNodeId().getHost()).thenReturn("127.0.0.1");
    poller = new ProgressPoller(() -> Collections.singletonList(app), cluster::facts, id -> false, id -> null,
        new HiatusConfiguration(cluster.conf()));
  }

  @After
  public void stop() {
    master.stop(0);
    cluster.close();
  }

  private String answer(String request) {
    if (request.endsWith("/attempts")) {
      ContainerId container = request.contains("_r_") ? reduce : maps.get(request.contains("000000") ? 0 : 1);
      return "{'taskAttempts':{'taskAttempt':[{'state':'RUNNING','assignedContainerId':'" + container + "'}]}}";
    }
    if (request.endsWith("type=m")) {
      return "{'tasks':{'task':[" + task("m", 0, 10) + "," + task("m", 1, 20) + "]}}";
    }
    if (request.endsWith("type=r")) {
      return "{'tasks':{'task':[" + task("r", 0, reduceProgress) + "]}}";
    }
    return "{'job':{'mapsTotal':7,'mapsCompleted':" + mapsDone + ",'reducesTotal':1,'reducesCompleted':0}}";
  }

  private String task(String letter, int number, double progress) {
    String id = job.id().toString().replace("application", "task") + "_" + letter + "_00000" + number;
    return "{'id':'" + id + "','state':'RUNNING','startTime':5,'progress':" + progress + "}";
  }

  private void goesOn(int rounds) throws Exception {
    for (int round = 0; round < rounds; round++) {
      poller.round();
      cluster.rounds(1);
    }
  }

  private ExecutionType reduceIs() {
    RMContainer container = cluster.container(reduce);
    return container.getExecutionType();
  }

  @Test
  public void whatTheMasterTellsLetsAReduceLendAndGoOn() throws Exception {
    MockCluster.until("the reduce lends its room", () -> {
      goesOn(1);
      return reduceIs() == ExecutionType.OPPORTUNISTIC;
    });
    MockCluster.until("a map has borrowed it", () -> {
      goesOn(1);
      return job.held().size() == 4;
    });
    assertNull(cluster.difference());
    assertEquals("lent", cluster.scheduler().operatorService().explainNow().whole().at("/suspended/0/reason").asText());
    for (ContainerId map : new ArrayList<>(maps)) {
      job.finish(map);
    }
    MockCluster.until("enough maps are done", () -> {
      cluster.rounds(1);
      return reduceIs() == ExecutionType.GUARANTEED;
    });
    assertEquals("nobody had to go", 0, cluster.scheduler().operatorService().explainNow().whole().at("/counters/recalled").asInt());
  }

  @Test
  public void headroomIsWithoutRoomThatIsLent() throws Exception {
    long free = headroomMb();
    MockCluster.until("the reduce lends its room, and no map has borrowed it yet", () -> {
      goesOn(1);
      return reduceIs() == ExecutionType.OPPORTUNISTIC;
    });
    assertEquals(3, job.held().size());
    assertEquals(free, headroomMb());
    MockCluster.until("a map has borrowed it", () -> {
      goesOn(1);
      return job.held().size() == 4;
    });
    assertEquals(free, headroomMb());
  }

  private long headroomMb() throws Exception {
    return job.call().getAvailableResources().getMemorySize();
  }

  @Test
  public void aRefreshTurnsLendingOffAndOn() throws Exception {
    cluster.refresh(conf -> conf.set(hiatus("lend"), "off"));
    goesOn(10);
    assertEquals(ExecutionType.GUARANTEED, reduceIs());
    cluster.refresh(conf -> conf.set(hiatus("lend"), "maps"));
    MockCluster.until("the reduce lends its room", () -> {
      goesOn(1);
      return reduceIs() == ExecutionType.OPPORTUNISTIC;
    });
  }

  @Test
  public void whoHasNotFetchedAllThereIsLendsNothing() throws Exception {
    mapsDone = 4;
    goesOn(10);
    assertEquals(ExecutionType.GUARANTEED, reduceIs());
    reduceProgress = 50;
    goesOn(5);
    assertEquals("it reads and sorts what it has", ExecutionType.GUARANTEED, reduceIs());
  }
}
