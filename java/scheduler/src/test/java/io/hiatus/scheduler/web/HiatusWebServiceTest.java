package io.hiatus.scheduler.web;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.hiatus.report.Report;
import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.security.Principal;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.servlet.http.HttpServletRequest;
import javax.ws.rs.WebApplicationException;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.webapp.BadRequestException;
import org.apache.hadoop.yarn.webapp.ForbiddenException;
import org.apache.hadoop.yarn.webapp.NotFoundException;
import org.junit.Test;

/** {@code /ws/v1/hiatus}: who sees what, and what it costs the scheduler. */
public class HiatusWebServiceTest {
  private static final int ALL = Integer.MAX_VALUE;

  private static HttpServletRequest from(String user) {
    HttpServletRequest request = mock(HttpServletRequest.class);
    when(request.getUserPrincipal()).thenReturn(user == null ? null : (Principal) () -> user);
    when(request.getRemoteAddr()).thenReturn("127.0.0.1");
    return request;
  }

  private static JsonNode json(String text) throws Exception {
    return new ObjectMapper().readTree(text);
  }

  @Test
  public void whoMayNotViewAnApplicationDoesNotSeeIt() throws Exception {
    try (MockCluster cluster = MockCluster.with(MockCluster::withAccessControl)) {
      cluster.node(4 * 1024, 16);
      FakeApp hers = cluster.started(cluster.submit("default", "alice"));
      FakeApp his = cluster.started(cluster.submit("default", "bob"));
      cluster.rounds(2);
      HiatusWebService service = new HiatusWebService(cluster.rm());

      JsonNode seen = json(service.explain(from("alice"), 0, ALL, "", null));
      assertEquals(1, seen.path("jobs").size());
      assertEquals(hers.id().toString(), seen.at("/jobs/0/application").asText());
      assertFalse(seen.toString().contains(his.id().toString()));
      assertTrue(seen.has("counters"));
      assertEquals(2, json(service.explain(from("admin"), 0, ALL, "", null)).path("jobs").size());
      assertEquals(1, json(service.explain(from("admin"), 1, ALL, "", null)).path("jobs").size());
      assertEquals(0, json(service.explain(from(null), 0, ALL, "", null)).path("jobs").size());

      assertEquals(hers.id().toString(),
          json(service.explainApplication(from("alice"), hers.id().toString())).at("/jobs/0/application").asText());
      assertThrows(ForbiddenException.class, () -> service.explainApplication(from("alice"), his.id().toString()));
    }
  }

  @Test
  public void withoutAccessControlEverybodySeesAll() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(4 * 1024, 16);
      cluster.run("default");
      cluster.rounds(2);
      HiatusWebService service = new HiatusWebService(cluster.rm());
      assertEquals(1, json(service.explain(from("mallory"), 0, ALL, "", null)).path("jobs").size());
      assertEquals(1, json(service.explain(from(null), 0, ALL, "", null)).path("jobs").size());
      assertThrows(NotFoundException.class, () -> service.explainApplication(from("user"), "application_1_0001"));
      assertThrows(BadRequestException.class, () -> service.explainApplication(from("user"), "job_1"));
      assertThrows(BadRequestException.class, () -> service.explain(from("user"), -1, ALL, "", null));
      assertThrows(BadRequestException.class, () -> service.explain(from("user"), 0, ALL, "jbos", null));
      assertEquals(0, json(service.explain(from("user"), 0, ALL, "jobs, queues", "root.other")).path("jobs").size());
      assertEquals(1, json(service.explain(from("user"), 0, ALL, "jobs, queues", "root.default")).path("queues").size());
    }
  }

  @Test
  public void whatIsForecastOfAJobStandsInItsEntryAndIsNoStrangersBusiness() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      MockCluster.withAccessControl(conf);
      conf.set(MockCluster.hiatus("forecast-interval-ms"), "1");
    })) {
      cluster.node(4 * 1024, 16);
      FakeApp hers = cluster.started(cluster.submit("default", "alice"));
      FakeApp his = cluster.started(cluster.submit("default", "bob"));
      HiatusWebService service = new HiatusWebService(cluster.rm());
      JsonNode part = json(service.explainApplication(from("alice"), hers.id().toString()));
      long patience = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
      while (part.path("forecasts").size() == 0 && System.nanoTime() < patience) {
        cluster.rounds(1);
        Thread.sleep(50);
        part = json(service.explainApplication(from("alice"), hers.id().toString()));
      }
      assertEquals("made", part.at("/forecast/state").asText());
      // It is no MapReduce job.
      assertEquals("it does not say how many tasks it has", part.at("/forecasts/0/unknown").asText());
      assertTrue(part.at("/forecasts/0/ends_in_s").isNull());
      JsonNode seen = json(service.explain(from("alice"), 0, ALL, "forecasts", null));
      assertFalse(seen.toString().contains(his.id().toString()));
    }
  }

  @Test
  public void whileHiatusOnlyObservesItIsToldWhatItWouldHaveSavedOfTheJobsThatEnded() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set(HiatusConfiguration.MODE, "observe");
      conf.set(MockCluster.hiatus("hindsight-interval-ms"), "1");
    })) {
      cluster.node(4 * 1024, 16);
      HiatusWebService service = new HiatusWebService(cluster.rm());
      FakeApp app = cluster.run("default").ask(2, 1024);
      cluster.rounds(2);
      assertEquals("awaited", json(service.explain(from("user"), 0, ALL, "", null)).at("/hindsight/state").asText());
      for (ContainerId task : app.fetch()) {
        app.finish(task);
      }
      cluster.rounds(2);
      app.finish();
      JsonNode told = json(service.explain(from("user"), 0, ALL, "", null)).path("hindsight");
      long patience = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
      while (told.path("state").asText().equals("awaited") && System.nanoTime() < patience) {
        cluster.rounds(1);
        Thread.sleep(50);
        told = json(service.explain(from("user"), 0, ALL, "", null)).path("hindsight");
      }
      assertEquals(told.toString(), "made", told.path("state").asText());
      assertEquals(1, told.at("/all/jobs").asInt());
      assertTrue(told.toString(), told.at("/all/real_s").asDouble() > 0 && told.at("/small/configured_s").asDouble() > 0);

      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "suspend"));
      cluster.rounds(2);
      assertEquals("placing", json(cluster.scheduler().operatorService().explainNow().whole().toString()).at("/hindsight/state").asText());
    }
  }

  @Test
  public void everybodyLearnsWhetherTheyMayParkAndNoStrangersPageMakesABrowserDoIt() throws Exception {
    try (MockCluster cluster = MockCluster.with(MockCluster::withAccessControl)) {
      cluster.node(4 * 1024, 16);
      FakeApp hers = cluster.started(cluster.submit("default", "alice"));
      cluster.rounds(2);
      HiatusWebService service = new HiatusWebService(cluster.rm());
      String id = hers.id().toString();
      assertTrue(json(service.explainApplication(from("alice"), id)).path("may_park").asBoolean());

      HttpServletRequest forged = from("alice");
      when(forged.getHeader("User-Agent")).thenReturn("Mozilla/5.0");
      assertThrows(BadRequestException.class, () -> service.parkApplication(forged, id, "true"));
      when(forged.getHeader("X-XSRF-HEADER")).thenReturn("any");
      assertEquals(200, service.parkApplication(forged, id, "true").getStatus());
      assertThrows(ForbiddenException.class, () -> service.parkApplication(from("bob"), id, "false"));
      assertEquals(200, service.parkApplication(from("alice"), id, "false").getStatus());
    }
  }

  @Test
  public void whoAsksAgainDoesNotWaitForTheSchedulersLock() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(4 * 1024, 16);
      HiatusWebService service = new HiatusWebService(cluster.rm());
      CountDownLatch held = new CountDownLatch(1);
      CountDownLatch answered = new CountDownLatch(1);
      boolean[] inTime = new boolean[1];
      Thread holder = new Thread(() -> cluster.scheduler().locked(() -> {
        cluster.scheduler().operatorService().explainNow();
        held.countDown();
        try {
          inTime[0] = answered.await(MockCluster.PATIENCE.getSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
        return null;
      }));
      holder.start();
      held.await();
      assertEquals("suspend", json(service.explain(from("user"), 0, ALL, "", null)).path("mode").asText());
      answered.countDown();
      holder.join();
      assertTrue(inTime[0]);
    }
  }

  @Test
  public void whoMayModifyAnApplicationGetsATokenToReportWithThatIsOfNoOtherUse() throws Exception {
    try (MockCluster cluster = MockCluster.with(MockCluster::withAccessControl)) {
      cluster.node(4 * 1024, 16);
      FakeApp hers = cluster.started(cluster.submit("default", "alice"));
      HiatusWebService service = new HiatusWebService(cluster.rm());
      String id = hers.id().toString();

      Token<AMRMTokenIdentifier> own = hers.app().getCurrentAppAttempt().getAMRMToken();
      Token<AMRMTokenIdentifier> given = new Token<>();
      given.decodeFromUrlString(json(service.reportToken(from("alice"), id)).asText());
      assertEquals(own.decodeIdentifier(), given.decodeIdentifier());
      assertArrayEquals(Report.secretOfOthers(own.getPassword()), given.getPassword());
      assertFalse("it opens nothing else", Arrays.equals(own.getPassword(), given.getPassword()));
      assertThrows(ForbiddenException.class, () -> service.reportToken(from("bob"), id));
      assertThrows(WebApplicationException.class, () -> service.reportToken(from(null), id));
      assertThrows(NotFoundException.class, () -> service.reportToken(from("alice"), "application_1_0001"));
      assertThrows(BadRequestException.class, () -> service.reportToken(from("alice"), "job_1"));
      FakeApp waits = cluster.submit("default", "alice");
      assertThrows("no ApplicationMaster yet", NotFoundException.class, () -> service.reportToken(from("alice"), waits.id().toString()));
    }
  }
}
