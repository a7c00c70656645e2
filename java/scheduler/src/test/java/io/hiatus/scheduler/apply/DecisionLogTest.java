package io.hiatus.scheduler.apply;

import static io.hiatus.scheduler.MockCluster.counter;
import static org.hamcrest.CoreMatchers.allOf;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** The ResourceManager's log says who was suspended, resumed and killed, whose it was, and why; but never too much. */
public class DecisionLogTest {
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final AppenderSkeleton listening = new AppenderSkeleton() {
    @Override
    protected void append(LoggingEvent event) {
      lines.add(event.getRenderedMessage());
    }

    @Override
    public void close() {
    }

    @Override
    public boolean requiresLayout() {
      return false;
    }
  };
  private long nowMs;

  @Before
  public void listen() {
    Logger.getLogger(DecisionLog.LOGGER).setLevel(Level.INFO);
    Logger.getLogger(DecisionLog.LOGGER).addAppender(listening);
  }

  @After
  public void stop() {
    Logger.getLogger(DecisionLog.LOGGER).removeAppender(listening);
    DefaultMetricsSystem.shutdown();
  }

  @Test
  public void aStormOfDecisionsIsCutOffAndCounted() {
    DefaultMetricsSystem.setMiniClusterMode(true);
    DecisionLog log = new DecisionLog(HiatusMetrics.register(new HiatusMetrics()), () -> nowMs);
    RMContainer container = mock(RMContainer.class);
    for (int i = 0; i < DecisionLog.MOST_LINES + 7; i++) {
      log.done("Suspended", container, "user", "because");
    }
    assertEquals(DecisionLog.MOST_LINES, lines.size());
    assertEquals(7, counter("DecisionsNotLogged"));
    nowMs += DecisionLog.WHILE_MS;
    log.done("Suspended", container, "user", "because");
    assertEquals(DecisionLog.MOST_LINES + 2, lines.size());
    assertThat(lines.get(DecisionLog.MOST_LINES), containsString("7 more decisions were not logged"));
    nowMs += DecisionLog.WHILE_MS;
    log.done("Suspended", container, "user", "because");
    assertEquals("nothing was left out", DecisionLog.MOST_LINES + 3, lines.size());
  }

  @Test
  public void whatIsRefusedAgainAndAgainIsSaidOnceInAWhile() {
    DefaultMetricsSystem.setMiniClusterMode(true);
    DecisionLog log = new DecisionLog(HiatusMetrics.register(new HiatusMetrics()), () -> nowMs);
    RMContainer container = mock(RMContainer.class);
    for (int i = 0; i < 9; i++) {
      log.refused("resumed", container, "user", "it has room, but refused: LIMIT");
      nowMs += DecisionLog.WHILE_MS / 4;
    }
    assertEquals(lines.toString(), 3, lines.size());
    assertThat(lines.get(0), containsString("Not resumed"));
    assertEquals(0, counter("DecisionsNotLogged"));
  }

  private List<String> about(ContainerId container) {
    return lines.stream().filter(line -> line.contains(container.toString())).collect(Collectors.toList());
  }

  @Test
  public void aContainersWayCanBeReadInTheLog() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(2 * 256 + 2 * 1024, 16);
      FakeApp big = cluster.run("default");
      FakeApp small = cluster.run("default");
      big.ask(4, 1024);
      cluster.rounds(5);
      ContainerId youngest = big.held().get(1);
      small.ask(1, 1024);
      cluster.rounds(5);
      assertEquals(1, small.held().size());
      small.finish(small.held().get(0));
      cluster.rounds(4);
      List<String> said = about(youngest);
      assertEquals(said.toString(), 2, said.size());
      assertThat(said.get(0), allOf(containsString("Suspended " + youngest), containsString("user, "), containsString("127.0.0.1"),
          containsString("its room is for " + small.id())));
      assertThat(said.get(1), containsString("Resumed " + youngest));

      cluster.scheduler().operatorService().park(big.id(), true);
      cluster.rounds(4);
      assertTrue(lines.toString(), lines.stream().anyMatch(line -> line.startsWith("Suspended ") && line.endsWith("it is parked")));
    }
  }
}
