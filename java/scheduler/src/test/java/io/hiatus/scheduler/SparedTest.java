package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.counter;
import static io.hiatus.scheduler.MockCluster.hiatus;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collections;
import java.util.function.Consumer;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.junit.Test;

/** Which applications are suspended for others: the core is told their types, YARN's own where they have none, and their tags. */
public class SparedTest {
  private static final int GB = 1024;

  private JsonNode big;
  private JsonNode small;

  /** Of an application that fills the only node, how many containers are suspended for another one. */
  private long suspendedOf(String type, Set<String> tags, Consumer<Configuration> more) throws Exception {
    try (MockCluster cluster = MockCluster.with(more)) {
      cluster.node(2 * 256 + 4 * GB, 64);
      FakeApp first = cluster.started(
          cluster.submit(cluster.builder("default", "user").withAppType(type).withApplicationTags(tags).build()));
      FakeApp second = cluster.run("default");
      first.ask(4, GB);
      cluster.rounds(5);
      long before = counter("Suspended");
      second.ask(1, GB);
      cluster.rounds(4);
      assertNull(cluster.difference());
      big = cluster.explained(first);
      small = cluster.explained(second);
      return counter("Suspended") - before;
    }
  }

  @Test
  public void whatIsOfYarnsOwnTypeIsNotAndWhoWaitsForItIsTold() throws Exception {
    assertEquals(0, suspendedOf(null, Collections.emptySet(), conf -> { }));
    assertEquals("its type YARN is none of suspend-types", big.path("spared_because").asText());
    assertThat(small.path("blocked_by").asText(), containsString("suspend-types"));
  }

  @Test
  public void aTypeThatIsListedOrATagAllowsIt() throws Exception {
    assertEquals(1, suspendedOf("MAPREDUCE", Collections.emptySet(), conf -> { }));
    assertEquals(1, suspendedOf(null, Collections.singleton("hiatus.suspend=yes"), conf -> { }));
    assertEquals(1, suspendedOf("Apache Flink", Collections.emptySet(), conf -> conf.set(hiatus("suspend-types"), "MAPREDUCE, Apache Flink")));
    assertEquals(true, big.path("spared_because").isNull());
  }
}
