package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static java.util.Arrays.asList;
import static java.util.Collections.emptyList;
import static java.util.Collections.singletonList;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.hiatus.scheduler.config.HiatusConfiguration;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.SettableFuture;
import org.apache.hadoop.yarn.api.records.Priority;
import org.junit.Test;

/** What administrators and users change while jobs run reaches the core: queues, policies, places and priorities. */
public class RefreshTest {
  /** Applications in the order in which the core serves them. */
  private static List<String> order(MockCluster cluster) throws Exception {
    assertNull(cluster.difference());
    List<String> names = new ArrayList<>();
    for (JsonNode job : jobs(cluster)) {
      names.add(job.path("application").asText());
    }
    return names;
  }

  private static JsonNode jobs(MockCluster cluster) throws Exception {
    return cluster.scheduler().operatorService().explainNow().whole().path("jobs");
  }

  private static JsonNode job(MockCluster cluster, FakeApp app) throws Exception {
    assertNull(cluster.difference());
    for (JsonNode job : jobs(cluster)) {
      if (job.path("application").asText().equals(app.id().toString())) {
        return job;
      }
    }
    throw new AssertionError(app.id() + " is not in " + jobs(cluster));
  }

  @Test
  public void aQueueComesAndGoes() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.node(4096, 64);
      FakeApp app = cluster.run("default");
      app.ask(2, 512);
      cluster.rounds(2);

      cluster.refresh(conf -> queues(conf, "root", "default", 40, "fresh", 60));
      FakeApp guest = cluster.run("fresh");
      guest.ask(2, 512);
      cluster.rounds(2);
      assertEquals(2, guest.held().size());
      assertEquals("root.fresh", job(cluster, guest).path("queue").asText());
      guest.finish();
      assertNull(cluster.difference());

      cluster.refresh(conf -> {
        queues(conf, "root", "default", 40, "fresh", 60);
        conf.set(queue("root.fresh", "state"), "STOPPED");
      });
      cluster.refresh(conf -> { });
      assertNull(cluster.scheduler().getQueue("fresh"));
      assertNull(cluster.difference());
      assertNull(cluster.facts().queues.of("root.fresh"));
      app.ask(2, 512);
      cluster.rounds(2);
      assertEquals(4, app.held().size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void theCoreLetsTheKnobsOfThisSidePass() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      for (Field field : HiatusConfiguration.class.getDeclaredFields()) {
        if (field.getType() == String.class && !field.getName().contains("FIX")) {
          String knob = (String) field.get(null);
          String value = knob.endsWith("mode") ? "suspend" : knob.endsWith("heartbeats") ? "false"
              : knob.endsWith("-nodes") ? "label:any" : knob.endsWith("-dir") ? cluster.conf().get("hadoop.tmp.dir") + "/100" : "100";
          cluster.refresh(conf -> conf.set(knob, value));
          assertNull(knob, cluster.scheduler().operatorService().fault());
        }
      }
    }
  }

  @Test
  public void propertiesOfAQueueThatDoesNotExistAreTold() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      cluster.refresh(conf -> {
        conf.set(queue("root.default", "hiatus.policy"), "fifo");
        conf.set(queue("root.defualt", "hiatus.policy"), "fifo");
      });
      HiatusConfiguration conf = new HiatusConfiguration(cluster.scheduler().getConfiguration());
      assertEquals(singletonList("root.defualt"), cluster.scheduler().unknownQueues(conf));
    }
  }

  @Test
  public void aQueueMayBeCalledHiatusAndHasItsOwnKnobs() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      queues(conf, "root", "default", 50, "hiatus", 50);
      queues(conf, "root.hiatus", "sub", 100);
      conf.set(queue("root.hiatus", "hiatus.policy"), "fifo");
      conf.set(queue("root.hiatus", "disable_preemption"), "true");
    })) {
      assertNull(cluster.scheduler().operatorService().fault());
      assertEquals(emptyList(), cluster.scheduler().unknownQueues(new HiatusConfiguration(cluster.scheduler().getConfiguration())));
      assertEquals("first come, first served", longAndShort(cluster, "sub"), order(cluster));
      assertThrows(IOException.class, () -> cluster.refresh(conf -> conf.set(queue("root", "hiatus.polcy"), "fifo")));
    }
  }

  @Test
  public void aQueuesPolicyIsItsOwn() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      List<String> arrived = longAndShort(cluster, "default");
      assertEquals("shortest first", asList(arrived.get(1), arrived.get(0)), order(cluster));
      cluster.refresh(conf -> conf.set(queue("root.default", "hiatus.policy"), "fifo"));
      cluster.rounds(1);
      assertEquals("first come, first served", arrived, order(cluster));
    }
  }

  /** A longer job and then a shorter one want a node each: in the order in which they came. */
  private static List<String> longAndShort(MockCluster cluster, String queue) throws Exception {
    cluster.node(4096, 64);
    FakeApp first = cluster.run(queue);
    FakeApp second = cluster.run(queue);
    first.ask(9, 4096);
    second.ask(1, 4096);
    cluster.rounds(1);
    return asList(first.id().toString(), second.id().toString());
  }

  @Test
  public void aMovedApplicationIsServedFromItsNewQueue() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> queues(conf, "root", "default", 50, "other", 50))) {
      cluster.node(4096, 64);
      FakeApp app = cluster.run("default");
      app.ask(2, 512);
      cluster.rounds(2);
      cluster.scheduler().preValidateMoveApplication(app.id(), "other");
      cluster.scheduler().moveApplication(app.id(), "other");
      assertEquals("root.other", job(cluster, app).path("queue").asText());
      app.ask(2, 512);
      cluster.rounds(2);
      assertEquals(4, app.held().size());
      assertEquals(4 * 512 + 256,
          cluster.scheduler().getQueue("other").getQueueResourceUsage().getUsed().getMemorySize());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void anApplicationWhosePriorityRisesIsServedFirst() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      conf.set("yarn.cluster.max-application-priority", "10");
      conf.set(queue("root.default", "hiatus.policy"), "fifo");
    })) {
      cluster.node(4096, 64);
      FakeApp first = cluster.run("default");
      FakeApp second = cluster.run("default");
      first.ask(9, 4096);
      second.ask(9, 4096);
      cluster.rounds(1);
      assertEquals(asList(first.id().toString(), second.id().toString()), order(cluster));
      assertEquals(Priority.newInstance(7), cluster.scheduler().updateApplicationPriority(Priority.newInstance(7),
          second.id(), SettableFuture.create(), UserGroupInformation.getCurrentUser()));
      cluster.settle();
      cluster.rounds(1);
      assertEquals(asList(second.id().toString(), first.id().toString()), order(cluster));
    }
  }

  @Test
  public void anApplicationBeyondTheMastersShareHoldsNothingUntilItsTurn() throws Exception {
    try (MockCluster cluster = MockCluster.with(
        conf -> conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.05"))) {
      cluster.node(4096, 64);
      FakeApp first = cluster.run("default");
      FakeApp second = cluster.submit("default", "user");
      cluster.rounds(3);
      assertNull("one master of 256 MB is all that a twentieth of 4 GB allows",
          second.app().getCurrentAppAttempt().getMasterContainer());
      assertNull(cluster.difference());
      first.ask(2, 512);
      cluster.rounds(2);
      assertEquals(2, first.held().size());

      first.finish();
      cluster.started(second);
      assertTrue(second.hasMaster());
      assertNull(cluster.difference());
      assertFalse("the finished one is forgotten", order(cluster).contains(first.id().toString()));
    }
  }
}
