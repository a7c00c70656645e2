package io.hiatus.scheduler;

import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;

/**
 * {@code check-config}: reads a folder of Hadoop's configuration and tells what keeps Hiatus from working there as it should. What
 * knobs may be it asks those who read them: the core, {@link HiatusConfiguration}, and the NodeManagers' jar.
 */
final class ConfigCheck {
  private static final String NODE_MANAGER_CHECK = "io.hiatus.nodemanager.NodeManagerCheck";
  private static final String SPECULATION_JAR = "io.hiatus.mapreduce.";
  private static final String ESTIMATOR = "yarn.app.mapreduce.am.job.task.estimator.class";
  private static final String ALL_SCHEDULERS = "yarn.scheduler.";
  private static final String QUEUE_PREFIX = ALL_SCHEDULERS + "capacity.";
  /** What a map gets where nobody says how much. */
  private static final int USUAL_CONTAINER_MB = 1024;
  private static final String[] FILES = {"core-site.xml", "yarn-site.xml", "capacity-scheduler.xml", "mapred-site.xml"};

  /** One thing to do. */
  static final class Finding {
    final String file;
    final String key;
    final String value;
    final String advice;

    private Finding(String file, String key, String value, String advice) {
      this.file = file;
      this.key = key;
      this.value = value;
      this.advice = advice;
    }

    /** A line. */
    @Override
    public String toString() {
      return file + ": " + key + " = " + value + ": " + advice;
    }
  }

  private final Path folder;
  private final Configuration conf = new Configuration(false);
  private final List<Finding> findings = new ArrayList<>();

  /** Reads the files that are there over Hadoop's defaults, and nothing else that may be on the class path. */
  ConfigCheck(Path folder) {
    this.folder = folder;
    for (String defaults : new String[] {"core-default.xml", "yarn-default.xml", "mapred-default.xml"}) {
      if (Configuration.class.getResource("/" + defaults) != null) {
        conf.addResource(defaults);
      }
    }
    for (String file : FILES) {
      if (has(file)) {
        conf.addResource(new org.apache.hadoop.fs.Path(folder.resolve(file).toUri()));
      }
    }
  }

  /** All that is to be done; empty if everything is well. */
  List<Finding> findings() {
    try {
      conf.size();
    } catch (RuntimeException e) {
      return Arrays.asList(new Finding(folder.toString(), "files", "unreadable", e.getMessage()));
    }
    if (!has("yarn-site.xml")) {
      return Arrays.asList(new Finding(folder.toString(), "yarn-site.xml", "missing", "name the folder that holds it, etc/hadoop usually"));
    }
    hadoop();
    knobs();
    queues();
    scheduler();
    attributes();
    nodeManagers();
    if (has("mapred-site.xml")) {
      speculation();
    }
    return findings;
  }

  private boolean has(String file) {
    return Files.exists(folder.resolve(file));
  }

  private void hadoop() {
    try {
      HadoopVersion.require(VersionInfo.getVersion());
    } catch (HadoopVersion.Unknown e) {
      findings.add(new Finding("class path", "Hadoop", VersionInfo.getVersion(), e.getMessage()));
    }
  }

  /** Each by itself, so that all that are wrong are told. */
  private void knobs() {
    boolean library = true;
    try {
      NativeLibrary.load(Paths.get(System.getProperty("java.io.tmpdir")));
    } catch (NativeException e) {
      library = false;
      findings.add(new Finding("this machine", "libhiatus", "not loaded", e.getMessage() + ". Without it most knobs are not checked"));
    }
    for (String name : new TreeMap<>(conf.getPropsWithPrefix(ALL_SCHEDULERS)).keySet()) {
      String key = ALL_SCHEDULERS + name;
      Configuration one = new Configuration(false);
      one.set(key, String.valueOf(conf.get(key)));
      try {
        HiatusConfiguration alone = new HiatusConfiguration(one);
        alone.check();
        if (library) {
          Native.check(alone.coreProperties());
        }
      } catch (IllegalArgumentException | NativeException e) {
        String message = e.getMessage().replace(HiatusConfiguration.KEPT, "");
        add(key, message.substring(message.indexOf(": ") + 2));
      }
    }
  }

  private void queues() {
    for (String path : new HiatusConfiguration(conf).queues()) {
      if (has("capacity-scheduler.xml") && !exists(path)) {
        conf.getPropsWithPrefix(QUEUE_PREFIX + path + HiatusConfiguration.QUEUE_INFIX).keySet().forEach(knob ->
            add(QUEUE_PREFIX + path + HiatusConfiguration.QUEUE_INFIX + knob, "there is no queue " + path + ": correct its path"));
      }
    }
  }

  /** Whether its parents name it, or might create it. */
  private boolean exists(String path) {
    int dot = path.lastIndexOf('.');
    if (dot < 0) {
      return path.equals("root");
    }
    String parent = path.substring(0, dot);
    return exists(parent) && (Arrays.asList(conf.getTrimmedStrings(QUEUE_PREFIX + parent + ".queues")).contains(path.substring(dot + 1))
        || creates(parent));
  }

  private boolean creates(String parent) {
    return conf.getBoolean(QUEUE_PREFIX + parent + ".auto-queue-creation-v2.enabled", false)
        || conf.getBoolean(QUEUE_PREFIX + parent + ".auto-create-child-queue.enabled", false);
  }

  private void scheduler() {
    String ours = HiatusScheduler.class.getName();
    if (!ours.equals(conf.getTrimmed(YarnConfiguration.RM_SCHEDULER))) {
      add(YarnConfiguration.RM_SCHEDULER, "a ResourceManager with this file runs without Hiatus: set it to " + ours);
    }
    if (StockPreemption.isConfigured(conf)) {
      add(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, "CapacityScheduler's preemption is refused while Hiatus places, and computes"
          + " its orders all the same: set it to false, unless you want it in the modes off and observe");
    }
    vcores();
  }

  /** Where memory alone is counted, a NodeManager that suspends still starts nothing beyond its vcores. */
  private void vcores() {
    String calculator = CapacitySchedulerConfiguration.RESOURCE_CALCULATOR_CLASS;
    if (!conf.getTrimmed(calculator, DefaultResourceCalculator.class.getName()).equals(DefaultResourceCalculator.class.getName())) {
      return;
    }
    long memoryMb = positive(YarnConfiguration.NM_PMEM_MB, YarnConfiguration.DEFAULT_NM_PMEM_MB);
    long vcores = positive(YarnConfiguration.NM_VCORES, YarnConfiguration.DEFAULT_NM_VCORES);
    long containerMb = Math.max(positive("mapreduce.map.memory.mb", USUAL_CONTAINER_MB),
        positive(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 1));
    if (memoryMb / containerMb > vcores) {
      add(YarnConfiguration.NM_VCORES, "a node of " + memoryMb + " MiB holds " + memoryMb / containerMb + " containers of " + containerMb
          + " MiB and starts no more than its vcores, though " + calculator + " counts memory only: set at least so many, or count both"
          + " with DominantResourceCalculator");
    }
  }

  private long positive(String key, long otherwise) {
    long value = conf.getLong(key, otherwise);
    return value > 0 ? value : otherwise;
  }

  /** Stock Hadoop waits for it at start if it cannot be written. */
  private void attributes() {
    String key = YarnConfiguration.FS_NODE_ATTRIBUTE_STORE_ROOT_DIR;
    URI place = new org.apache.hadoop.fs.Path(conf.getTrimmed(key, "").isEmpty() ? "/" : conf.getTrimmed(key)).toUri();
    if (conf.getTrimmed(key, "").isEmpty() || !"file".equals(place.getScheme())) {
      return; // YARN's default is below /tmp, and a file system elsewhere is not ours to try
    }
    File there = new File(place.getPath());
    while (!there.exists() && there.getParentFile() != null) {
      there = there.getParentFile();
    }
    if (!there.isDirectory() || !Files.isWritable(there.toPath())) {
      add(key, "the ResourceManager cannot start without writing there, and this user cannot: " + there + " is in the way");
    }
  }

  private void nodeManagers() {
    try {
      nodeManagerCheck().apply(conf).forEach(this::add);
    } catch (ReflectiveOperationException e) {
      findings.add(new Finding("class path", "hiatus-nodemanager-*.jar", "missing",
          "what NodeManagers read was not checked: put that jar on HADOOP_CLASSPATH"));
    }
  }

  @SuppressWarnings("unchecked")
  private static Function<Configuration, Map<String, String>> nodeManagerCheck() throws ReflectiveOperationException {
    return (Function<Configuration, Map<String, String>>) Class.forName(NODE_MANAGER_CHECK).getDeclaredConstructor().newInstance();
  }

  /** MapReduce takes a suspended task for a slow one, starts it a second time and kills one of the two. */
  private void speculation() {
    for (String key : new String[] {"mapreduce.map.speculative", "mapreduce.reduce.speculative"}) {
      if (conf.getBoolean(key, true) && !conf.getTrimmed(ESTIMATOR, "").startsWith(SPECULATION_JAR)) {
        add(key, "suspended tasks would be run a second time: set it to false, or, with hiatus-mapreduce-*.jar on every node, "
            + ESTIMATOR + " to " + SPECULATION_JAR + "BatchMRTaskRuntimeEstimator");
      }
    }
  }

  private void add(String key, String advice) {
    String value = conf.get(key);
    findings.add(new Finding(file(key), key, value == null ? "(not set)" : value, advice));
  }

  /** The file that has it, or that it belongs in. */
  private String file(String key) {
    String[] sources = conf.getPropertySources(key);
    if (sources != null) {
      String last = sources[sources.length - 1];
      for (String file : FILES) {
        if (last.endsWith("/" + file)) {
          return file;
        }
      }
    }
    return key.startsWith("mapreduce.") ? "mapred-site.xml" : "yarn-site.xml";
  }
}
