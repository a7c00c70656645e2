package io.hiatus.scheduler.config;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.FakeApp;
import io.hiatus.scheduler.FakeNode;
import io.hiatus.scheduler.GpuPartition;
import io.hiatus.scheduler.MockCluster;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.thirdparty.com.google.common.collect.ImmutableSet;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.junit.Test;

/** Nodes of two classes, told apart by an attribute: jobs keep to one of them, and CapacityScheduler goes along. */
public class SidesTest {
  private FakeNode physical;
  private FakeNode virtual;

  private MockCluster mixed(Consumer<Configuration> more) throws Exception {
    MockCluster cluster = MockCluster.with(conf -> {
      conf.set(HiatusConfiguration.PHYSICAL_NODES, "label:metal, attribute:machine=physical");
      conf.set(HiatusConfiguration.VIRTUAL_NODES, "attribute:machine=virtual");
      conf.set(MockCluster.hiatus("batchmr-placer"), "on");
      more.accept(conf);
    });
    physical = cluster.join(new FakeNode(cluster.freshHost(), 4 * 1024, 64, true).withAttribute("machine", "physical"));
    virtual = cluster.join(new FakeNode(cluster.freshHost(), 4 * 1024, 64, true).withAttribute("machine", "virtual"));
    return cluster;
  }

  private static Set<NodeId> taskNodes(MockCluster cluster, FakeApp app) {
    return cluster.liveTasks(app).stream().map(id -> cluster.container(id).getAllocatedNode()).collect(Collectors.toSet());
  }

  @Test
  public void aJobOfWhichNothingIsKnownRunsOnVirtualNodesIfItMayTryNothing() throws Exception {
    try (MockCluster cluster = mixed(conf -> conf.set(MockCluster.hiatus("batchmr-samples"), "0"))) {
      FakeApp app = cluster.run("default");
      app.ask(6, 1024);
      cluster.rounds(5);
      assertEquals(ImmutableSet.of(virtual.id()), taskNodes(cluster, app));
      assertTrue("its side is full", cluster.liveTasks(app).size() >= 3);
      String told = cluster.scheduler().operatorService().explainNow().whole().path("jobs").toString();
      assertTrue(told, told.contains("\"reason\":\"SAMPLE_V\"") && told.contains("\"side\":\"virtual\""));
    }
  }

  @Test
  public void itsFirstTasksAreTriedOnBothSides() throws Exception {
    try (MockCluster cluster = mixed(conf -> conf.set(MockCluster.hiatus("batchmr-samples"), "1"))) {
      FakeApp app = cluster.run("default");
      app.ask(6, 1024);
      cluster.rounds(5);
      assertEquals(ImmutableSet.of(physical.id(), virtual.id()), taskNodes(cluster, app));
      assertEquals("one on each side, and the others wait", 2, cluster.liveTasks(app).size());
    }
  }

  @Test
  public void aPartitionThatServesOthersTooMayBeASide() throws Exception {
    try (MockCluster cluster = MockCluster.with(conf -> {
      GpuPartition.configure(conf);
      conf.set(HiatusConfiguration.PHYSICAL_NODES, "attribute:machine=physical");
      conf.set(HiatusConfiguration.VIRTUAL_NODES, "label:gpu");
      conf.set(MockCluster.hiatus("batchmr-placer"), "on");
      conf.set(MockCluster.hiatus("batchmr-samples"), "0");
    })) {
      cluster.join(new FakeNode(cluster.freshHost(), 4 * 1024, 64, true).withAttribute("machine", "physical"));
      FakeApp app = cluster.run("default");
      FakeNode labelled = GpuPartition.node(cluster, false);
      app.ask(3, 1024);
      cluster.rounds(12);
      assertEquals(ImmutableSet.of(labelled.id()), taskNodes(cluster, app));
      assertEquals(3, cluster.liveTasks(app).size());
      assertNull(cluster.difference());
    }
  }

  @Test
  public void withoutThePlacerItRunsAnywhere() throws Exception {
    try (MockCluster cluster = mixed(conf -> conf.set(MockCluster.hiatus("batchmr-placer"), "off"))) {
      FakeApp app = cluster.run("default");
      app.ask(6, 1024);
      cluster.rounds(5);
      assertEquals(ImmutableSet.of(physical.id(), virtual.id()), taskNodes(cluster, app));
    }
  }

  @Test
  public void aWordThatIsNeitherLabelNorAttributeIsRefused() {
    Configuration conf = new Configuration(false);
    conf.set(HiatusConfiguration.VIRTUAL_NODES, "attribute:machine");
    String said = assertThrows(IllegalArgumentException.class, () -> new HiatusConfiguration(conf).check()).getMessage();
    assertTrue(said, said.contains("rm.virtual-nodes") && said.contains("attribute:NAME=VALUE"));
  }
}
