package io.hiatus.scheduler.engine;

import static java.util.Collections.emptyList;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.when;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.FakeNode;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.config.Sides;
import io.hiatus.scheduler.facts.Exit;
import io.hiatus.scheduler.facts.FactWriter;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.junit.Test;

/** Comparing the books: a few nodes at a time, and patient with what changes meanwhile. */
public class ConsistencyCheckTest {
  private static ConsistencyCheck books(MockCluster cluster) {
    return new ConsistencyCheck(cluster.scheduler(), cluster.scheduler().demotions(), cluster.facts(), cluster.engine().core());
  }

  /** A whole round; returns the differences that stay. */
  private static List<String> round(MockCluster cluster, ConsistencyCheck books) {
    return cluster.scheduler().locked(() -> {
      cluster.engine().step();
      books.begin();
      while (!books.isRoundOver()) {
        books.look();
      }
      return books.staying();
    });
  }

  @Test
  public void aDifferenceCountsIfItIsThereTwiceForTheSameContainer() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      FakeNode node = cluster.node(4 * 1024, 16);
      FakeApp app = cluster.run("default");
      app.ask(2, 512);
      cluster.rounds(3);
      ContainerId one = app.held().get(0);
      ContainerId other = app.held().get(1);
      FactWriter facts = cluster.facts();
      ConsistencyCheck books = books(cluster);
      assertEquals(emptyList(), round(cluster, books));
      assertEquals(emptyList(), books.suspects());

      facts.completed(one, Exit.KILLED);
      assertEquals("it may be in flight", emptyList(), round(cluster, books));
      assertThat(books.suspects().toString(), containsString(one + " on " + node.id() + " is unknown to the core"));

      facts.container(cluster.container(one), false);
      facts.completed(other, Exit.KILLED);
      assertFalse("another container is another difference",
          round(cluster, books).toString().contains("is unknown to the core"));

      assertThat(round(cluster, books).toString(), containsString(other + " on " + node.id() + " is unknown to the core"));
      facts.container(cluster.container(other), false);
      assertEquals(emptyList(), round(cluster, books));
      assertEquals(emptyList(), books.suspects());
    }
  }

  @Test
  public void whatTheCoreAloneKnowsIsFound() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      FakeNode node = cluster.node(4 * 1024, 16);
      FakeApp app = cluster.run("default");
      app.ask(1, 512);
      cluster.rounds(3);
      RMContainer task = spy(cluster.container(app.held().get(0)));
      ContainerId never = ContainerId.newContainerId(task.getApplicationAttemptId(), 99);
      when(task.getContainerId()).thenReturn(never);
      cluster.facts().container(task, false);
      ConsistencyCheck books = books(cluster);
      round(cluster, books);
      assertThat(books.suspects().toString(), containsString(never + " on " + node.id() + " is known to the core alone"));
      assertThat(books.suspects().toString(), containsString("512 MB more"));
    }
  }

  @Test
  public void aLookTakesAFewNodesAndTheNextOneGoesOn() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      for (int i = 0; i < 250; i++) {
        NodeId nowhere = NodeId.newInstance("nowhere" + i, 1);
        cluster.facts().node(nowhere, Resource.newInstance(1024, 1), "", false, false, false, Sides.NONE, 0);
      }
      ConsistencyCheck books = books(cluster);
      cluster.scheduler().locked(() -> {
        cluster.engine().step();
        books.begin();
        books.look();
        assertEquals(100, books.suspects().size());
        books.look();
        assertFalse(books.isRoundOver());
        books.look();
        assertTrue(books.isRoundOver());
        return null;
      });
      assertEquals(250, books.suspects().size());
      assertEquals("suspects are looked at once in a round, too", 250, round(cluster, books).size());
    }
  }
}
