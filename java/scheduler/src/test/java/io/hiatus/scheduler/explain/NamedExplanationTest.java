package io.hiatus.scheduler.explain;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.Collections;
import org.junit.Test;

/** Who sees what of the explanation, and who has it made. */
public class NamedExplanationTest {
  private final NamedExplanation explanation = new NamedExplanation(("{'jobs': [{'application': 'a', 'rank': 1, 'queue': 'root.a'},"
      + " {'application': 'b', 'rank': 2, 'queue': 'root.b'}, {'application': 'a', 'rank': 3, 'queue': 'root.a'}],"
      + " 'suspended': [{'application': 'a', 'by': 'b'}, {'application': 'b', 'by': 'a'}, {'application': 'a', 'by': null}],"
      + " 'claims': [{'application': 'b'}], 'not_parked_yet': [], 'nodes': [{'node': 7}, {'node': 8}], 'counters': {'rejected': 7}}").replace('\'', '"'),
      null, (job, id) -> job.put("lifetime_left_s", id.equals("a") ? 60L : null), "suspend", null, "off", 0);
  private long nowMs = 1_000_000;
  private final Explainer explainer = new Explainer(() -> nowMs, () -> new NamedExplanation("{}", null, (job, id) -> { }, "suspend", null, "off", 0));

  private static NamedExplanation.Wanted cut(int offset, int limit) {
    return new NamedExplanation.Wanted(Collections.emptySet(), null, offset, limit);
  }

  @Test
  public void whoMayViewAllSeesAll() {
    JsonNode all = explanation.part(id -> true, cut(0, Integer.MAX_VALUE));
    assertEquals("suspend", all.path("mode").asText());
    assertTrue(all.path("fault").isNull());
    assertEquals(3, all.path("jobs").size());
    assertEquals(60, all.at("/jobs/0/lifetime_left_s").asInt());
    assertTrue("it has none", all.at("/jobs/1/lifetime_left_s").isNull());
    assertEquals("b", all.at("/suspended/0/by").asText());
    assertEquals(7, all.at("/counters/rejected").asInt());
    assertEquals(3, all.at("/totals/jobs").asInt());
    assertEquals(0, all.at("/totals/not_parked_yet").asInt());
  }

  @Test
  public void othersApplicationsAreLeftOutAndNotNamed() {
    JsonNode own = explanation.part("a"::equals, cut(0, Integer.MAX_VALUE));
    assertEquals(2, own.path("jobs").size());
    assertEquals("ranks are those among all", 3, own.at("/jobs/1/rank").asInt());
    assertEquals(2, own.path("suspended").size());
    assertTrue(own.at("/suspended/0/by").isNull());
    assertEquals(0, own.path("claims").size());
    assertEquals(2, own.at("/totals/jobs").asInt());
    assertFalse(own.toString().contains("\"b\""));
    assertEquals("nothing is changed for others", "b", explanation.whole().at("/suspended/0/by").asText());
  }

  @Test
  public void aPageIsAPartOfEachList() {
    JsonNode page = explanation.part(id -> true, cut(1, 1));
    assertEquals(1, page.path("jobs").size());
    assertEquals(2, page.at("/jobs/0/rank").asInt());
    assertEquals(1, page.path("suspended").size());
    assertEquals(0, page.path("claims").size());
    assertEquals(3, page.at("/totals/jobs").asInt());
    assertEquals(0, explanation.part(id -> true, cut(3, 10)).path("jobs").size());
  }

  @Test
  public void whoNamesListsOrAQueueIsToldOfThoseOnly() {
    JsonNode nodes = explanation.part(id -> false, new NamedExplanation.Wanted(Collections.singleton("nodes"), null, 1, 5));
    assertEquals("nodes are nobody's secret", 8, nodes.at("/nodes/0/node").asInt());
    assertFalse(nodes.has("jobs"));
    assertEquals(2, nodes.at("/totals/nodes").asInt());
    assertTrue(nodes.has("counters"));
    JsonNode ofQueue = explanation.part(id -> true, new NamedExplanation.Wanted(Collections.emptySet(), "root.b", 0, 5));
    assertEquals(1, ofQueue.path("jobs").size());
    assertEquals(1, ofQueue.at("/totals/jobs").asInt());
    assertEquals("root.b", ofQueue.at("/jobs/0/queue").asText());
    assertEquals("what is of no queue is of all", 3, ofQueue.path("suspended").size());
    assertTrue(NamedExplanation.areLists(Arrays.asList("jobs", "nodes")));
    assertFalse(NamedExplanation.areLists(Collections.singleton("jbos")));
  }

  @Test
  public void oneApplicationsPartIsWhatSpeaksOfIt() {
    JsonNode part = explanation.of("b", "b"::equals);
    assertEquals(1, part.path("jobs").size());
    assertTrue(part.at("/suspended/0/by").isNull());
    assertEquals(1, part.path("claims").size());
    assertFalse(part.has("not_parked_yet"));
    assertFalse(part.has("counters"));
  }

  @Test
  public void stepsMakeOneWhileSomebodyAsksAndOnlyThen() {
    explainer.tick();
    assertNull("nobody had asked", explainer.latest());
    NamedExplanation first = explainer.make();
    assertSame(first, explainer.latest());
    nowMs += 999;
    explainer.tick();
    assertSame("once a second", first, explainer.latest());
    nowMs += 1;
    explainer.tick();
    NamedExplanation second = explainer.latest();
    assertNotNull(second);
    assertNotSame(first, second);
    nowMs += 60_000;
    explainer.tick();
    assertNull("who comes back after a while has a new one made", explainer.latest());
    explainer.make();
    explainer.forget();
    assertNull("and who has changed something", explainer.latest());
  }
}
