package io.hiatus.scheduler.cli;

import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.NativeException;
import io.hiatus.scheduler.bridge.NativeLibrary;
import io.hiatus.scheduler.config.HeartbeatLimits;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.config.QueueProperty;
import io.hiatus.scheduler.hadoop.HadoopVersion;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;

/**
 * {@code check-config}: reads a folder of Hadoop's configuration and tells what keeps Hiatus from working there as it should. What
 * knobs may be it asks those who read them: the core, {@link HiatusConfiguration}, and the NodeManagers' jar.
 */
public final class ConfigCheck {
  private static final String NODE_MANAGER_CHECK = "io.hiatus.nodemanager.NodeManagerCheck";
  private static final String SPECULATION_JAR = "io.hiatus.mapreduce.";
  private static final String ESTIMATOR = "yarn.app.mapreduce.am.job.task.estimator.class";
  private static final String ALL_SCHEDULERS = "yarn.scheduler.";
  private static final String QUEUE_PREFIX = ALL_SCHEDULERS + "capacity.";
  /** What stands between a queue's path and a property of the queues that are created below it. */
  private static final Pattern TEMPLATE = Pattern.compile("(.+)\\.(leaf-queue-template|auto-queue-creation-v2\\.(parent-|leaf-)?template)");
  /** What a map gets where nobody says how much. */
  private static final int USUAL_CONTAINER_MB = 1024;
  private static final String QUEUE_FILE = "capacity-scheduler.xml";
  private static final String[] FILES = {"core-site.xml", "yarn-site.xml", "resource-types.xml", QUEUE_FILE, "mapred-site.xml"};

  /** One thing to do, or to know. */
  public static final class Finding {
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
  private final List<Finding> notes = new ArrayList<>();

  /** Checks the files that are there over Hadoop's defaults, and nothing else that may be on the class path. */
  public ConfigCheck(Path folder) {
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
    check();
  }

  /** All that is to be done; empty if everything is well. */
  public List<Finding> findings() {
    return findings;
  }

  /** What is well, and not everybody expects. */
  public List<Finding> notes() {
    return notes;
  }

  private void check() {
    try {
      conf.size();
    } catch (RuntimeException e) {
      findings.add(new Finding(folder.toString(), "files", "unreadable", e.getMessage()));
      return;
    }
    if (!has("yarn-site.xml")) {
      findings.add(new Finding(folder.toString(), "yarn-site.xml", "missing", "name the folder that holds it, etc/hadoop usually"));
      return;
    }
    hadoop();
    knobs();
    if (isStoreTheFile()) {
      queues();
    }
    spared();
    masters();
    resourceTypes();
    scheduler();
    attributes();
    nodeManagers();
    if (has("mapred-site.xml")) {
      speculation();
    }
  }

  private boolean has(String file) {
    return Files.exists(folder.resolve(file));
  }

  private void hadoop() {
    try {
      HadoopVersion.require(VersionInfo.getVersion())
          .ifPresent(untested -> notes.add(new Finding("class path", "Hadoop", VersionInfo.getVersion(), untested)));
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

  /** Whether queues are as the folder says; otherwise a ResourceManager has read its file once, when its store was made. */
  private boolean isStoreTheFile() {
    String key = YarnConfiguration.SCHEDULER_CONFIGURATION_STORE_CLASS;
    String store = conf.getTrimmed(key, YarnConfiguration.DEFAULT_CONFIGURATION_STORE);
    if (!store.equals(YarnConfiguration.FILE_CONFIGURATION_STORE)) {
      note(key, "queues and their properties are in that store, Hiatus' among them: what there is of them in files was not checked, and"
          + " changes nothing once the store is made");
      return false;
    }
    if (!has(QUEUE_FILE)) {
      notes.add(new Finding(folder.toString(), QUEUE_FILE, "missing", "queues were not checked: a ResourceManager takes that file from"
          + " elsewhere on its class path"));
    }
    return has(QUEUE_FILE);
  }

  private void queues() {
    for (String name : new TreeMap<>(conf.getPropsWithPrefix(QUEUE_PREFIX)).keySet()) {
      String path = QueueProperty.pathIn(name);
      Matcher template = TEMPLATE.matcher(path == null ? "" : path);
      if (template.matches()) { // CapacityScheduler's own there are its parent's
        String parents = QUEUE_PREFIX + template.group(1) + name.substring(path.length());
        add(QUEUE_PREFIX + name, "Hiatus reads no templates: set " + parents + ", which all queues below that one go by");
      } else if (path != null && !exists(path)) {
        add(QUEUE_PREFIX + name, "there is no queue " + path + ": correct its path, or name it in its parent's property queues");
      } else if (path != null && name.equals(path + "." + QueueProperty.CAPACITY.name)) {
        maximum(QUEUE_PREFIX + name, QUEUE_PREFIX + path + "." + QueueProperty.MAXIMUM_CAPACITY.name);
      }
    }
    String complaint = StockValidation.complaint(conf);
    if (complaint != null) {
      findings.add(new Finding(QUEUE_FILE, QUEUE_PREFIX + "…", "refused", "no ResourceManager starts with these queues: " + complaint));
    }
  }

  /** CapacityScheduler takes both without a word. */
  private void maximum(String capacity, String maximum) {
    double most = percentage(maximum);
    if (most >= 0 && percentage(capacity) > most) {
      add(capacity, "is above its maximum-capacity, " + conf.getTrimmed(maximum) + ": it never gets what it is guaranteed");
    }
  }

  /** Not a number if it is none: a weight, or absolute. */
  private double percentage(String key) {
    try {
      return Double.parseDouble(conf.getTrimmed(key, ""));
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  /** Who is let in is CapacityScheduler's affair, and comes before all order. */
  private void masters() {
    note(CapacitySchedulerConfiguration.MAXIMUM_APPLICATION_MASTERS_RESOURCE_PERCENT, "that part of a queue is for ApplicationMasters ("
        + CapacitySchedulerConfiguration.DEFAULT_MAXIMUM_APPLICATIONMASTERS_RESOURCE_PERCENT + " where nothing is set, and queues may"
        + " have their own). While Hiatus places, those of jobs that give way do not count, up to max-am-share: a small job is let in"
        + " beside big ones. Raise it only where more jobs shall have equal shares, under fair, than it lets in");
  }

  private void resourceTypes() {
    String[] others = conf.getTrimmedStrings(YarnConfiguration.RESOURCE_TYPES);
    if (others.length > 0 && memoryOnly()) {
      add(CapacitySchedulerConfiguration.RESOURCE_CALCULATOR_CLASS, "no ResourceManager starts by it with " + YarnConfiguration.RESOURCE_TYPES
          + " set: set it to DominantResourceCalculator's class");
    }
    if (others.length > 0) {
      note(YarnConfiguration.RESOURCE_TYPES, "Hiatus judges memory and vcores only: of the rest CapacityScheduler gives what there is, and"
          + " nothing is suspended to make room for it");
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

  /** Where nothing is taken back, smaller jobs wait as under stock. */
  private void spared() {
    for (String name : new TreeMap<>(conf.getPropsWithPrefix(QUEUE_PREFIX)).keySet()) {
      String key = QUEUE_PREFIX + name;
      if (name.endsWith("." + CapacitySchedulerConfiguration.QUEUE_PREEMPTION_DISABLED) && conf.getBoolean(key, false)) {
        boolean within = name.endsWith(".intra-queue-preemption." + CapacitySchedulerConfiguration.QUEUE_PREEMPTION_DISABLED);
        note(key, "Hiatus takes nothing of this queue" + (within ? " for its own jobs" : ", for its own jobs neither")
            + ", nor of those below it that do not say false: a job waits until containers end there");
      }
    }
  }

  private void scheduler() {
    String ours = HiatusConfiguration.SCHEDULER_CLASS;
    if (!ours.equals(conf.getTrimmed(YarnConfiguration.RM_SCHEDULER))) {
      add(YarnConfiguration.RM_SCHEDULER, "a ResourceManager with this file runs without Hiatus: set it to " + ours);
    }
    if (HiatusConfiguration.hasStockPreemption(conf)) {
      add(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, "CapacityScheduler's preemption is refused while Hiatus places, and computes"
          + " its orders all the same: set it to false, unless you want it in the modes off and observe");
    }
    HeartbeatLimits.set(conf).forEach(key -> note(key, "does nothing while Hiatus places: whatever has room starts at once"));
    vcores();
  }

  /** Where memory alone is counted, a NodeManager that suspends still starts nothing beyond its vcores. */
  private void vcores() {
    if (!memoryOnly()) {
      return;
    }
    long memoryMb = positive(YarnConfiguration.NM_PMEM_MB, YarnConfiguration.DEFAULT_NM_PMEM_MB);
    long vcores = positive(YarnConfiguration.NM_VCORES, YarnConfiguration.DEFAULT_NM_VCORES);
    long containerMb = Math.max(positive("mapreduce.map.memory.mb", USUAL_CONTAINER_MB),
        positive(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 1));
    if (memoryMb / containerMb > vcores) {
      add(YarnConfiguration.NM_VCORES, "a node of " + memoryMb + " MiB holds " + memoryMb / containerMb + " containers of " + containerMb
          + " MiB and starts no more than its vcores, though " + CapacitySchedulerConfiguration.RESOURCE_CALCULATOR_CLASS + " counts memory only: set at least so many, or count both"
          + " with DominantResourceCalculator");
    }
  }

  private boolean memoryOnly() {
    String byDefault = DefaultResourceCalculator.class.getName();
    return conf.getTrimmed(CapacitySchedulerConfiguration.RESOURCE_CALCULATOR_CLASS, byDefault).equals(byDefault);
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

  /** MapReduce takes a suspended task for a slow one; second attempts are held back where its ApplicationMaster tells what it has. */
  private void speculation() {
    boolean asked = !"0".equals(conf.getTrimmed(HiatusConfiguration.PROGRESS_INTERVAL_MS));
    String otherwise = "set it to false, or, with hiatus-mapreduce-*.jar on every node, " + ESTIMATOR + " to " + SPECULATION_JAR
        + "BatchMRTaskRuntimeEstimator";
    for (String key : new String[] {"mapreduce.map.speculative", "mapreduce.reduce.speculative"}) {
      if (conf.getBoolean(key, true) && !conf.getTrimmed(ESTIMATOR, "").startsWith(SPECULATION_JAR)) {
        if (asked) {
          note(key, "Hiatus holds second attempts of suspended tasks back, but while maps wait behind suspended reduces; where that is too"
              + " little, " + otherwise);
        } else {
          add(key, "with " + HiatusConfiguration.PROGRESS_INTERVAL_MS + " = 0 no job is asked what tasks it has, and second attempts of"
              + " suspended tasks are not held back: let jobs be asked, or " + otherwise);
        }
      }
    }
  }

  private void add(String key, String advice) {
    findings.add(finding(key, advice));
  }

  private void note(String key, String fact) {
    notes.add(finding(key, fact));
  }

  private Finding finding(String key, String advice) {
    String value = conf.get(key);
    return new Finding(file(key), key, value == null ? "(not set)" : value, advice);
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
