package io.hiatus.scheduler.config;

import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.GpuPartition;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.facts.FactWriter;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.MultiNodeLookupPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.ResourceUsageMultiNodeLookupPolicy;
import org.junit.Test;

/** CapacityScheduler's properties of queues, one by one: what Hiatus does with each is as the table for administrators says. */
public class QueuePropertyTest {
  /** Constants of CapacityScheduler's configuration that are no names of queues' properties, but words, values and parts of names. */
  private static final Set<String> NO_PROPERTIES = new HashSet<>(Arrays.asList(".", "*", " ", "", "root", "fifo", "fair", "memory,vcores",
      "fifo-with-partitions", "fifo-for-pending-apps", "utilization", "priority-utilization", "userlimit_first", "default", "legacy", "json",
      "weight", "user-settings", "\\S+\\.weight", "w", "acl_", "=", "min-resource", "max-resource"));

  /** A value of each that changes something, for {@code root.a}; those without say nothing by themselves. */
  private static Map<QueueProperty, String> examples() {
    Map<QueueProperty, String> examples = new EnumMap<>(QueueProperty.class);
    examples.put(QueueProperty.QUEUES, "default,a,b");
    examples.put(QueueProperty.CAPACITY, "30");
    examples.put(QueueProperty.MAXIMUM_CAPACITY, "60");
    examples.put(QueueProperty.LABELS, " ");
    examples.put(QueueProperty.LABEL_CAPACITY, "30");
    examples.put(QueueProperty.LABEL_MAXIMUM_CAPACITY, "60");
    examples.put(QueueProperty.USER_LIMIT, "25");
    examples.put(QueueProperty.USER_LIMIT_FACTOR, "2");
    examples.put(QueueProperty.USER_WEIGHT, "0.5");
    examples.put(QueueProperty.PREEMPTION_DISABLED, "true");
    examples.put(QueueProperty.PREEMPTION_WITHIN_DISABLED, "true");
    examples.put(QueueProperty.STATE, "STOPPED");
    examples.put(QueueProperty.SUBMITTERS, "alice");
    examples.put(QueueProperty.ADMINISTRATORS, "alice");
    examples.put(QueueProperty.PRIORITIES, "[max_priority=5 user=alice]");
    examples.put(QueueProperty.DEFAULT_PRIORITY, "3");
    examples.put(QueueProperty.MASTERS, "0.3");
    examples.put(QueueProperty.LABEL_MASTERS, "0.3");
    examples.put(QueueProperty.APPLICATIONS, "7");
    examples.put(QueueProperty.PARALLEL_APPLICATIONS, "3");
    examples.put(QueueProperty.ALLOCATION, "memory-mb=2048,vcores=2");
    examples.put(QueueProperty.ALLOCATION_MB, "2048");
    examples.put(QueueProperty.ALLOCATION_VCORES, "2");
    examples.put(QueueProperty.DEFAULT_LABEL, "gpu");
    examples.put(QueueProperty.LIFETIME, "1000");
    examples.put(QueueProperty.DEFAULT_LIFETIME, "900");
    examples.put(QueueProperty.ZERO_CAPACITY, "true");
    examples.put(QueueProperty.CREATION, "false");
    examples.put(QueueProperty.CREATION_TEMPLATE, "50");
    examples.put(QueueProperty.FLEXIBLE_CREATION, "false");
    examples.put(QueueProperty.RESERVABLE, "false");
    examples.put(QueueProperty.RESERVATIONS, "1000");
    examples.put(QueueProperty.RESERVATIONS_SHOWN, "true");
    examples.put(QueueProperty.RESERVED_ON_AVERAGE, "50");
    examples.put(QueueProperty.RESERVED_AT_ONCE, "50");
    examples.put(QueueProperty.ORDER, "fair");
    examples.put(QueueProperty.ORDER_PARAMETERS, "true");
    examples.put(QueueProperty.PRIORITY, "5");
    examples.put(QueueProperty.NODE_ORDER, "by-use");
    return examples;
  }

  /** Two queues of half the cluster each, with half of a partition. */
  private static void halves(Configuration conf) {
    GpuPartition.configure(conf);
    queues(conf, "root", "default", 50, "a", 50);
    conf.set(CapacitySchedulerConfiguration.MULTI_NODE_SORTING_POLICIES, "by-use");
    conf.setClass(CapacitySchedulerConfiguration.MULTI_NODE_SORTING_POLICY_NAME + ".by-use.class", ResourceUsageMultiNodeLookupPolicy.class,
        MultiNodeLookupPolicy.class);
    for (String path : new String[] {"root", "root.default", "root.a"}) {
      conf.set(queue(path, "accessible-node-labels"), "*");
      conf.set(queue(path, "accessible-node-labels.gpu.capacity"), path.equals("root") ? "100" : "50");
    }
  }

  /** What stands for anything in a name. */
  private static String named(QueueProperty property) {
    switch (property) {
      case LABEL_CAPACITY:
      case LABEL_MAXIMUM_CAPACITY:
      case LABEL_MASTERS:
        return property.name.replace("*", "gpu");
      case USER_WEIGHT:
        return property.name.replace("*", "alice");
      case CREATION:
      case FLEXIBLE_CREATION:
        return property.name.replace("*", "enabled");
      case CREATION_TEMPLATE:
        return property.name.replace("*", "capacity");
      case RESERVATIONS:
        return property.name.replace("*", "window");
      case ORDER_PARAMETERS:
        return property.name.replace("*", "fair.enable-size-based-weight");
      default:
        return property.name;
    }
  }

  /** All that the core is told of queues and who may hold what of them. */
  private static ByteBuffer told(MockCluster cluster) {
    FactWriter facts = new FactWriter(false, id -> true);
    cluster.scheduler().teller().queues(facts);
    FactBuffer written = facts.take();
    byte[] copy = new byte[written.length()];
    ByteBuffer bytes = written.bytes().duplicate();
    bytes.flip();
    bytes.get(copy);
    return ByteBuffer.wrap(copy);
  }

  @Test
  public void theCoreIsToldWhatItHonoursAndNothingOfTheRest() throws Exception {
    Map<QueueProperty, String> examples = examples();
    List<String> wrong = new ArrayList<>();
    try (MockCluster cluster = MockCluster.with(QueuePropertyTest::halves)) {
      GpuPartition.node(cluster, true);
      ByteBuffer before = told(cluster);
      for (QueueProperty property : QueueProperty.values()) {
        String example = examples.get(property);
        if (property.name.startsWith("maximum-allocation")) {
          continue; // a refresh may not make that smaller again
        }
        cluster.refresh(conf -> {
          conf.set(queue(property == QueueProperty.QUEUES ? "root" : "root.a", named(property)), example);
          // What others must have then, so that CapacityScheduler takes it.
          if (property == QueueProperty.CAPACITY) {
            conf.set(queue("root.default", "capacity"), "70");
          } else if (property == QueueProperty.LABEL_CAPACITY) {
            conf.set(queue("root.default", "accessible-node-labels.gpu.capacity"), "70");
          } else if (property == QueueProperty.LABELS) {
            conf.unset(queue("root.a", "accessible-node-labels.gpu.capacity"));
            conf.set(queue("root.default", "accessible-node-labels.gpu.capacity"), "100");
          } else if (property == QueueProperty.QUEUES) {
            conf.set(queue("root.b", "capacity"), "0");
            conf.set(queue("root.b", "state"), "STOPPED");
          }
        });
        boolean differs = !told(cluster).equals(before);
        if (differs != (property.by == QueueProperty.By.HIATUS)) {
          wrong.add(property + (differs ? " is told" : " is not told"));
        }
        cluster.refresh(conf -> { });
        assertEquals(property + " leaves nothing behind", before, told(cluster));
      }
      try (MockCluster smaller = MockCluster.with(conf -> {
        halves(conf);
        conf.set(queue("root.a", QueueProperty.ALLOCATION.name), examples.get(QueueProperty.ALLOCATION));
        conf.set(queue("root.default", QueueProperty.ALLOCATION_MB.name), examples.get(QueueProperty.ALLOCATION_MB));
        conf.set(queue("root.default", QueueProperty.ALLOCATION_VCORES.name), examples.get(QueueProperty.ALLOCATION_VCORES));
      })) {
        GpuPartition.node(smaller, true);
        assertEquals("the largest container is CapacityScheduler's affair", before, told(smaller));
      }
    }
    assertEquals(new ArrayList<>(), wrong);
  }

  /** Of a table for administrators the cells of each row, the first without its marks. */
  private static List<String[]> rows(String begin, String end) throws Exception {
    Path operations = Paths.get("../../docs/operations.md");
    String text = new String(Files.readAllBytes(Files.exists(operations) ? operations : Paths.get("docs/operations.md")),
        StandardCharsets.UTF_8);
    return Arrays.stream(text.substring(text.indexOf(begin), text.indexOf(end)).split("\n")).filter(line -> line.startsWith("| `"))
        .map(line -> line.substring("| `".length()).replaceFirst("`", "").split(" \\| ")).collect(toList());
  }

  @Test
  public void theTableForAdministratorsSaysTheSame() throws Exception {
    String rows = rows("<!-- queue properties -->", "<!-- end of queue properties -->").stream()
        .map(cells -> cells[0] + " " + cells[1]).collect(joining("\n"));
    String wanted = Arrays.stream(QueueProperty.values()).map(property -> property.name + " " + property.by.word).collect(joining("\n"));
    assertEquals(wanted, rows);
  }

  /** So that a Hadoop with a new one is noticed. */
  @Test
  public void noneThatThisHadoopKnowsIsLeftOut() throws Exception {
    List<String> leftOut = new ArrayList<>();
    for (Field field : CapacitySchedulerConfiguration.class.getFields()) {
      if (field.getType() == String.class && Modifier.isStatic(field.getModifiers())
          && field.getDeclaringClass() == CapacitySchedulerConfiguration.class) {
        String value = (String) field.get(null);
        boolean ofQueue = value != null && !value.contains("yarn.") && !value.startsWith("^") && !value.contains("org.apache")
            && !NO_PROPERTIES.contains(value);
        if (ofQueue && QueueProperty.pathIn("root.a." + value) == null && QueueProperty.pathIn("root.a." + value + ".x") == null
            && QueueProperty.pathIn("root.a." + value + "x") == null) {
          leftOut.add(field.getName() + " = " + value);
        }
      }
    }
    assertEquals(new ArrayList<>(), leftOut);
  }

  /** So that a queue may be called hiatus. */
  @Test
  public void noKnobIsCalledAsOneOfThem() throws Exception {
    List<String[]> knobs = new ArrayList<>(rows("<!-- knobs -->", "<!-- end of knobs -->"));
    knobs.addAll(rows("<!-- knobs of studies -->", "<!-- end of knobs of studies -->"));
    assertTrue(knobs.size() > 20);
    for (String[] knob : knobs) {
      assertEquals(knob[0], "root.a", QueueProperty.pathBeforeKnob("root.a.hiatus." + knob[0]));
    }
  }

  @Test
  public void aQueueMayBeCalledAsWhatStandsBeforeAKnob() {
    for (String ofStock : new String[] {"capacity", "queues", "accessible-node-labels.gpu.capacity", "sub.user-limit-factor"}) {
      assertNull(ofStock, QueueProperty.pathBeforeKnob("root.hiatus." + ofStock));
    }
    assertEquals("root.hiatus", QueueProperty.pathIn("root.hiatus.capacity"));
    assertEquals("root.hiatus.sub", QueueProperty.pathIn("root.hiatus.sub.capacity"));
    assertEquals("root.hiatus", QueueProperty.pathBeforeKnob("root.hiatus.hiatus.policy"));
    assertEquals("root.hiatus.sub", QueueProperty.pathBeforeKnob("root.hiatus.sub.hiatus.policy"));
    assertEquals("a misspelt knob stays one", "root", QueueProperty.pathBeforeKnob("root.hiatus.polcy"));
    assertEquals("root.a.leaf-queue-template", QueueProperty.pathBeforeKnob("root.a.leaf-queue-template.hiatus.policy"));
  }

  @Test
  public void theQueueOfAPropertyIsFound() {
    assertEquals("root.a", QueueProperty.pathIn("root.a.capacity"));
    assertEquals("root.a", QueueProperty.pathIn("root.a.accessible-node-labels.gpu.capacity"));
    assertEquals("root.a.b", QueueProperty.pathIn("root.a.b.intra-queue-preemption.disable_preemption"));
    assertEquals("root", QueueProperty.pathIn("root.queues"));
    assertEquals("root.a", QueueProperty.pathIn("root.a.hiatus.policy"));
    assertEquals("root.a", QueueProperty.pathIn("root.a.leaf-queue-template.capacity"));
    assertNull(QueueProperty.pathIn("maximum-am-resource-percent"));
    assertNull(QueueProperty.pathIn("node-locality-delay"));
    assertTrue(QueueProperty.pathIn("root.a.nonsense") == null);
  }
}
