package io.hiatus.scheduler.state;

import static io.hiatus.scheduler.MockCluster.hiatus;
import static java.util.Arrays.asList;
import static java.util.Collections.emptyList;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.FakeNode;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.web.HiatusWebService;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.servlet.http.HttpServletRequest;
import javax.ws.rs.WebApplicationException;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.RMStateStore;
import org.apache.hadoop.yarn.webapp.BadRequestException;
import org.apache.hadoop.yarn.webapp.ForbiddenException;
import org.apache.hadoop.yarn.webapp.NotFoundException;
import org.junit.Test;

/** Somebody puts a job aside and takes it up again. */
public class ParkingTest {
  @Test
  public void whatIsParkedIsDemotedAndHeldThoughNobodyNeedsItsRoomAndPromotedWhenItIsWoken() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> conf.set(hiatus("max-suspended-memory"), "4"))) {
      FakeNode node = cluster.node(8 * 1024, 16);
      FakeApp app = cluster.run("default");
      app.ask(3, 1024);
      cluster.rounds(3);
      List<ContainerId> tasks = new ArrayList<>(app.held());
      assertEquals(3, tasks.size());

      assertTrue(cluster.scheduler().operatorService().park(app.id(), true));
      app.ask(2, 1024);
      cluster.rounds(4);
      for (ContainerId task : tasks) {
        assertTrue("the node learns of the demotion before it is told to hold " + task,
            node.told().indexOf("demote " + task) < node.told().indexOf("hold " + task)
                && node.told().contains("demote " + task));
      }
      assertEquals("each is told once", 6, node.told().size());
      assertEquals("a parked job starts nothing", 3, app.held().size());
      assertNull(cluster.difference());

      node.told().clear();
      assertTrue(cluster.scheduler().operatorService().park(app.id(), false));
      cluster.rounds(4);
      assertTrue(tasks.stream().allMatch(task -> node.told().contains("promote " + task)));
      assertEquals("and now it starts the rest", 5, app.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void aContainerThatWasSuspendedBeforeAndStillRunsIsHeldToo() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      FakeNode node = cluster.node(2 * 256 + 2 * 1024, 16);
      FakeApp big = cluster.run("default");
      FakeApp small = cluster.run("default");
      big.ask(2, 1024);
      cluster.rounds(3);
      small.ask(1, 1024);
      cluster.rounds(4);
      ContainerId suspended = Collections.max(big.held());
      assertEquals(asList("demote " + suspended), node.told());

      assertTrue(cluster.scheduler().operatorService().park(suspended, true));
      cluster.beat();
      cluster.beat();
      assertEquals(asList("demote " + suspended, "hold " + suspended), node.told());
    }
  }

  @Test
  public void aCoreThatBeginsAnewIsToldWhatIsParked() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(4 * 1024, 16);
      FakeApp app = cluster.run("default");
      assertTrue(cluster.scheduler().operatorService().park(app.id(), true));
      cluster.refresh(conf -> conf.set(HiatusConfiguration.MODE, "off"));
      assertFalse("nobody is there to park anything", cluster.scheduler().operatorService().park(app.id(), false));
      cluster.refresh(conf -> { });
      app.ask(1, 1024);
      cluster.rounds(4);
      assertEquals(emptyList(), app.held());
    }
  }

  @Test(timeout = 60_000)
  public void whatTheStateStoreDoesNotKeepIsNotParkedAndNobodyWaitsForIt() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(4 * 1024, 16);
      FakeApp app = cluster.run("default");
      Method fence = RMStateStore.class.getDeclaredMethod("updateFencedState");
      fence.setAccessible(true);
      fence.invoke(cluster.rm().getRMStateStore());
      assertThrows(UncheckedIOException.class, () -> cluster.scheduler().operatorService().park(app.id(), true));
      app.ask(1, 1024);
      cluster.rounds(3);
      assertEquals("it was not parked", 1, app.held().size());
    }
  }

  @Test
  public void whatIsOverCannotBeParkedNorIsAContainerRememberedThatIs() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(4 * 1024, 16);
      FakeApp app = cluster.run("default");
      app.ask(1, 1024);
      cluster.rounds(3);
      ContainerId task = app.held().get(0);
      assertTrue(cluster.scheduler().operatorService().park(task, true));
      assertTrue(cluster.scheduler().parking().isParked(task));
      app.release(task);
      assertFalse(cluster.scheduler().parking().isParked(task));
      app.finish();
      cluster.rounds(1);
      assertThrows(IllegalArgumentException.class, () -> cluster.scheduler().operatorService().park(app.id(), true));
    }
  }

  @Test
  public void onlyWhoMayKillAnApplicationMayParkIt() throws Exception {
    try (MockCluster cluster = MockCluster.with(MockCluster::withAccessControl)) {
      cluster.node(4 * 1024, 16);
      FakeApp app = cluster.started(cluster.submit("default", "alice"));
      app.ask(1, 1024);
      cluster.rounds(3);
      ContainerId task = app.held().get(0);
      HiatusWebService service = new HiatusWebService(cluster.rm());

      for (String user : new String[] {"alice", "admin"}) {
        service.parkApplication(from(user), app.id().toString(), "true");
        service.parkContainer(from(user), task.toString(), "false");
      }
      assertThrows(ForbiddenException.class, () -> service.parkApplication(from("mallory"), app.id().toString(), "false"));
      assertThrows(ForbiddenException.class, () -> service.parkContainer(from("mallory"), task.toString(), "true"));
      assertThrows(WebApplicationException.class, () -> service.parkApplication(from(null), app.id().toString(), "false"));
      cluster.rounds(2);
      assertEquals(ExecutionType.OPPORTUNISTIC, cluster.container(task).getExecutionType());
    }
  }

  @Test
  public void whatMakesNoSenseIsRefused() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(4 * 1024, 16);
      FakeApp app = cluster.run("default");
      HiatusWebService service = new HiatusWebService(cluster.rm());
      String master = app.app().getCurrentAppAttempt().getMasterContainer().getId().toString();
      assertThrows(BadRequestException.class, () -> service.parkContainer(from("user"), master, "true"));
      assertThrows(BadRequestException.class, () -> service.parkApplication(from("user"), "job_1_1", "true"));
      assertThrows(BadRequestException.class, () -> service.parkApplication(from("user"), app.id().toString(), "maybe"));
      assertThrows(NotFoundException.class, () -> service.parkApplication(from("user"), "application_1_0001", "true"));
      assertThrows(NotFoundException.class,
          () -> service.parkContainer(from("user"), "container_1_0001_01_000002", "true"));
    }
  }

  private static HttpServletRequest from(String user) {
    HttpServletRequest request = mock(HttpServletRequest.class);
    when(request.getUserPrincipal()).thenReturn(user == null ? null : (Principal) () -> user);
    when(request.getRemoteAddr()).thenReturn("127.0.0.1");
    return request;
  }
}
