package io.hiatus.scheduler.cli;

import static java.util.Arrays.asList;
import static java.util.Collections.emptyList;
import static java.util.Collections.singletonList;
import static java.util.stream.Collectors.toList;
import static org.hamcrest.CoreMatchers.allOf;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.CoreMatchers.not;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;

import io.hiatus.scheduler.HiatusScheduler;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** What check-config says of a folder; what only the NodeManagers' jar knows is that jar's to test. */
public class ConfigCheckTest {
  private static final String SCHEDULER = "yarn.resourcemanager.scheduler.class";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final Map<String, Map<String, String>> files = new LinkedHashMap<>();

  @Before
  public void aGoodConfiguration() {
    set("yarn-site.xml", SCHEDULER, HiatusScheduler.class.getName());
    set("yarn-site.xml", "yarn.scheduler.hiatus.mode", "observe");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.queues", "default, etl");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.default.capacity", "60");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.capacity", "40");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.hiatus.policy", "las");
    set("mapred-site.xml", "mapreduce.map.speculative", "false");
    set("mapred-site.xml", "mapreduce.reduce.speculative", "false");
  }

  private void set(String file, String key, String value) {
    files.computeIfAbsent(file, name -> new LinkedHashMap<>()).put(key, value);
  }

  private ConfigCheck checked() throws IOException {
    Path conf = folder.newFolder().toPath();
    for (Map.Entry<String, Map<String, String>> file : files.entrySet()) {
      StringBuilder xml = new StringBuilder("<configuration>\n");
      file.getValue().forEach((key, value) ->
          xml.append("<property><name>").append(key).append("</name><value>").append(value).append("</value></property>\n"));
      Files.write(conf.resolve(file.getKey()), xml.append("</configuration>\n").toString().getBytes(StandardCharsets.UTF_8));
    }
    return new ConfigCheck(conf);
  }

  /** All but that this test has no jar of the NodeManagers'. */
  private List<ConfigCheck.Finding> findings() throws IOException {
    return checked().findings().stream().filter(one -> !one.key.startsWith("hiatus-nodemanager")).collect(toList());
  }

  /** The one finding. */
  private String finding() throws IOException {
    List<ConfigCheck.Finding> found = findings();
    assertEquals(found.toString(), 1, found.size());
    return found.get(0).toString();
  }

  @Test
  public void nothingIsSaidOfAGoodOne() throws Exception {
    assertEquals(emptyList(), findings());
  }

  @Test
  public void everyKnobThatIsMisspeltOrOutOfRangeIsTold() throws Exception {
    set("yarn-site.xml", "yarn.scheduler.hiatus.polcy", "fair");
    set("yarn-site.xml", "yarn.scheduler.hiatus.mode", "on");
    set("yarn-site.xml", "yarn.scheduler.hiatus.rm.step-budget-ms", "0");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.hiatus.min-run-ms", "soon");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.hiatus.claim-timeout-ms", "1000");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.hiatus.suspend-types", "MAPREDUCE,");
    assertEquals(asList(
        "capacity-scheduler.xml: yarn.scheduler.capacity.root.etl.hiatus.claim-timeout-ms = 1000: claim-timeout-ms is set for the whole"
            + " cluster, as yarn.scheduler.hiatus.claim-timeout-ms",
        "capacity-scheduler.xml: yarn.scheduler.capacity.root.etl.hiatus.min-run-ms = soon: must be a whole number from 0 to 86400000",
        "capacity-scheduler.xml: yarn.scheduler.capacity.root.etl.hiatus.suspend-types = MAPREDUCE,: must be *, or application types of at"
            + " most 20 characters with commas between them",
        "yarn-site.xml: yarn.scheduler.hiatus.mode = on: must be one of off, observe, order, suspend, kill",
        "yarn-site.xml: yarn.scheduler.hiatus.polcy = fair: no such property; the nearest is yarn.scheduler.hiatus.policy",
        "yarn-site.xml: yarn.scheduler.hiatus.rm.step-budget-ms = 0: must be a whole number from 1 to 600000"),
        findings().stream().map(Object::toString).collect(toList()));
  }

  /** {@code hiatus advise} writes that file; a test of rust/sim holds it to it. */
  @Test
  public void nothingIsSaidOfWhatIsAdvised() throws Exception {
    Configuration advice = new Configuration(false);
    advice.addResource(getClass().getResourceAsStream("/advice.xml"));
    assertEquals(4, advice.size());
    advice.forEach(property -> set("capacity-scheduler.xml", property.getKey(), property.getValue()));
    assertEquals(emptyList(), findings());
  }

  @Test
  public void aQueueThatDoesNotExistIsToldUnlessItMayBeMade() throws Exception {
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.elt.hiatus.policy", "fifo");
    assertThat(finding(), allOf(containsString("capacity-scheduler.xml"), containsString("no queue root.elt")));
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.default.capacity", "3w");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.capacity", "2w");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.auto-queue-creation-v2.enabled", "true");
    assertEquals(emptyList(), findings());
  }

  @Test
  public void queuesOfEveryKindAreGoodOnes() throws Exception {
    Map<String, String> before = files.get("capacity-scheduler.xml");
    String[][] kinds = {
      {"default.capacity", "3w", "etl.capacity", "2w"},
      {"default.capacity", "[memory=4096,vcores=4]", "etl.capacity", "[memory=4096,vcores=4]"},
      {"etl.reservable", "true"},
      {"etl.auto-create-child-queue.enabled", "true", "etl.leaf-queue-template.capacity", "50",
        "etl.leaf-queue-template.maximum-capacity", "100"},
      {"default.capacity", "3w", "etl.capacity", "2w", "etl.auto-queue-creation-v2.enabled", "true",
        "etl.auto-queue-creation-v2.template.maximum-capacity", "50"},
    };
    for (String[] kind : kinds) {
      files.put("capacity-scheduler.xml", new LinkedHashMap<>(before));
      for (int i = 0; i < kind.length; i += 2) {
        set("capacity-scheduler.xml", "yarn.scheduler.capacity.root." + kind[i], kind[i + 1]);
      }
      assertEquals(asList(kind).toString(), emptyList(), findings());
    }
  }

  @Test
  public void aKnobInATemplateIsToldWithWhereItBelongs() throws Exception {
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.auto-create-child-queue.enabled", "true");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.leaf-queue-template.capacity", "50");
    for (String template : new String[] {"leaf-queue-template", "auto-queue-creation-v2.template", "auto-queue-creation-v2.leaf-template"}) {
      String key = "yarn.scheduler.capacity.root.etl." + template + ".hiatus.policy";
      set("capacity-scheduler.xml", key, "fifo");
      assertEquals("capacity-scheduler.xml: " + key + " = fifo: Hiatus reads no templates: set yarn.scheduler.capacity.root.etl.hiatus.policy,"
          + " which all queues below that one go by", finding());
      files.get("capacity-scheduler.xml").remove(key);
    }
  }

  @Test
  public void aPropertyOfCapacitySchedulersForAQueueThatDoesNotExistIsTold() throws Exception {
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.elt.user-limit-factor", "2");
    assertThat(finding(), allOf(containsString("root.elt.user-limit-factor = 2"), containsString("no queue root.elt")));
  }

  /** What CapacityScheduler says of the two queues with those capacities and a property more. */
  private String refused(String ofDefault, String ofEtl, String property, String value) throws Exception {
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.default.capacity", ofDefault);
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.capacity", ofEtl);
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root." + property, value);
    return finding();
  }

  @Test
  public void whatCapacitySchedulerItselfRefusesIsToldInItsWords() throws Exception {
    String refused = "capacity-scheduler.xml: yarn.scheduler.capacity.… = refused: no ResourceManager starts with these queues: ";
    assertThat(refused("60", "30", "queues", "default, etl"), allOf(containsString(refused), containsString("Illegal capacity sum of 0.9")));
    assertThat(refused("60", "4w", "queues", "default, etl"), containsString(refused));
    assertThat(refused("60", "40", "etl.minimum-user-limit-percent", "much"), allOf(containsString(refused), containsString("much")));
  }

  @Test
  public void aCapacityAboveTheMaximumIsToldThoughStockTakesIt() throws Exception {
    assertThat(refused("60", "40", "etl.maximum-capacity", "30"),
        containsString("root.etl.capacity = 40: is above its maximum-capacity, 30: it never gets what it is guaranteed"));
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.maximum-capacity", "-1");
    assertEquals(emptyList(), findings());
  }

  @Test
  public void labelsAreInNoFileAndNoFault() throws Exception {
    set("yarn-site.xml", "yarn.node-labels.enabled", "true");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.accessible-node-labels.gpu.capacity", "100");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.accessible-node-labels", "gpu");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.accessible-node-labels.gpu.capacity", "100");
    assertEquals(emptyList(), findings());
  }

  @Test
  public void anotherStoreThanTheFileIsToldAndItsQueuesAreNotJudgedByTheFile() throws Exception {
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.capacity", "50");
    assertEquals(1, findings().size());
    set("yarn-site.xml", "yarn.scheduler.configuration.store.class", "zk");
    assertEquals(emptyList(), findings());
    assertThat(checked().notes().toString(), containsString("yarn.scheduler.configuration.store.class = zk: queues and their properties"));
  }

  @Test
  public void otherResourcesAndTheLimitOfApplicationMastersAreExplained() throws Exception {
    String limit = "yarn.scheduler.capacity.maximum-am-resource-percent = ";
    assertThat(checked().notes().toString(), allOf(containsString(limit + "(not set): that part of a queue is for ApplicationMasters (0.1"),
        not(containsString("yarn.resource-types"))));
    set("resource-types.xml", "yarn.resource-types", "yarn.io/gpu");
    assertThat(finding(), containsString("resource-calculator = (not set): no ResourceManager starts by it with yarn.resource-types set"));
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.resource-calculator",
        "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.maximum-am-resource-percent", "0.5");
    assertThat(checked().notes().toString(), allOf(containsString(limit + "0.5"),
        containsString("resource-types.xml: yarn.resource-types = yarn.io/gpu: Hiatus judges memory and vcores only")));
    assertEquals(emptyList(), findings());
  }

  @Test
  public void limitsOfAHeartbeatThatDoNothingAreTold() throws Exception {
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments", "5");
    assertThat(checked().notes().toString(), containsString("maximum-container-assignments = 5: does nothing while Hiatus places"));
  }

  @Test
  public void queuesOfWhichNothingIsTakenAreToldAndAreNoFault() throws Exception {
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.etl.disable_preemption", "true");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.intra-queue-preemption.disable_preemption", "true");
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.root.default.disable_preemption", "false");
    assertEquals(emptyList(), findings());
    String notes = checked().notes().toString();
    assertThat(notes, allOf(containsString("root.etl.disable_preemption = true: Hiatus takes nothing of this queue, for its own jobs neither"),
        containsString("root.intra-queue-preemption.disable_preemption = true: Hiatus takes nothing of this queue for its own jobs"),
        not(containsString("root.default"))));
  }

  @Test
  public void anotherSchedulerIsTold() throws Exception {
    files.get("yarn-site.xml").remove(SCHEDULER);
    assertThat(finding(), allOf(containsString("yarn-site.xml: " + SCHEDULER), containsString("CapacityScheduler"),
        containsString("set it to " + HiatusScheduler.class.getName())));
  }

  @Test
  public void fewerVcoresThanContainersAreToldWhereOnlyMemoryCounts() throws Exception {
    set("yarn-site.xml", "yarn.nodemanager.resource.memory-mb", "65536");
    set("yarn-site.xml", "yarn.nodemanager.resource.cpu-vcores", "16");
    set("mapred-site.xml", "mapreduce.map.memory.mb", "2048");
    assertThat(finding(), allOf(containsString("cpu-vcores = 16"), containsString("holds 32 containers of 2048 MiB")));
    set("capacity-scheduler.xml", "yarn.scheduler.capacity.resource-calculator",
        "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator");
    assertEquals(emptyList(), findings());
  }

  @Test
  public void capacitySchedulersOwnPreemptionIsTold() throws Exception {
    set("yarn-site.xml", "yarn.resourcemanager.scheduler.monitor.enable", "true");
    assertThat(finding(), containsString("yarn-site.xml: yarn.resourcemanager.scheduler.monitor.enable = true"));
  }

  @Test
  public void speculationIsNoFaultWhereJobsAreAskedForTheirTasks() throws Exception {
    files.get("mapred-site.xml").remove("mapreduce.reduce.speculative");
    assertEquals(emptyList(), findings());
    assertThat(checked().notes().toString(), allOf(containsString("mapreduce.reduce.speculative = (not set): Hiatus holds second attempts"),
        not(containsString("mapreduce.map.speculative"))));
    set("yarn-site.xml", "yarn.scheduler.hiatus.rm.progress-interval-ms", "0");
    assertThat(finding(), allOf(containsString("mapred-site.xml: mapreduce.reduce.speculative"), containsString("not held back")));
    set("mapred-site.xml", "yarn.app.mapreduce.am.job.task.estimator.class", "io.hiatus.mapreduce.LateTaskRuntimeEstimator");
    assertEquals(emptyList(), findings());
  }

  @Test
  public void anAttributeStoreThatCannotBeMadeIsTold() throws Exception {
    File file = folder.newFile();
    set("yarn-site.xml", "yarn.node-attribute.fs-store.root-dir", new File(file, "attributes").toURI().toString());
    assertThat(finding(), allOf(containsString("yarn.node-attribute.fs-store.root-dir"), containsString(file + " is in the way")));
    set("yarn-site.xml", "yarn.node-attribute.fs-store.root-dir", new File(folder.getRoot(), "not/there").toURI().toString());
    assertEquals(emptyList(), findings());
  }

  @Test
  public void aFolderWithoutConfigurationAndABrokenFileAreTold() throws Exception {
    Path empty = folder.newFolder().toPath();
    assertEquals(singletonList(empty + ": yarn-site.xml = missing: name the folder that holds it, etc/hadoop usually"),
        new ConfigCheck(empty).findings().stream().map(Object::toString).collect(toList()));
    Files.write(empty.resolve("yarn-site.xml"), "<configuration><property>".getBytes(StandardCharsets.UTF_8));
    assertThat(new ConfigCheck(empty).findings().toString(), containsString("unreadable"));
  }
}
