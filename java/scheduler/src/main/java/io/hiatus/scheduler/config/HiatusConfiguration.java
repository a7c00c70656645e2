package io.hiatus.scheduler.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity.ProportionalCapacityPreemptionPolicy;
import org.apache.hadoop.yarn.server.webproxy.ProxyUriUtils;
import org.apache.hadoop.yarn.webapp.util.WebAppUtils;

/**
 * What this side of the boundary needs of the configuration. Everything else that begins with {@link #PREFIX}, or
 * stands behind a queue's path and {@link #QUEUE_INFIX}, is the core's: it knows names, ranges and meanings.
 */
public final class HiatusConfiguration {
  /** What {@code yarn.resourcemanager.scheduler.class} is to be. */
  public static final String SCHEDULER_CLASS = "io.hiatus.scheduler.HiatusScheduler";
  /** Prefix of cluster-wide properties. */
  public static final String PREFIX = "yarn.scheduler.hiatus.";
  /** Between a queue's path and a property of its own. */
  public static final String QUEUE_INFIX = ".hiatus.";
  /** How far Hiatus may go; see {@link Mode}. */
  public static final String MODE = PREFIX + "mode";
  /** Pause between two steps when no node reports in, in ms. */
  public static final String STEP_INTERVAL_MS = PREFIX + "rm.step-interval-ms";
  /** Whether Hiatus places at once what can be placed, and not only when a node reports in. */
  public static final String PLACE_BETWEEN_HEARTBEATS = PREFIX + "rm.place-between-heartbeats";
  /** A step that takes longer counts as over budget, in ms. */
  public static final String STEP_BUDGET_MS = PREFIX + "rm.step-budget-ms";
  /** Pause between two comparisons of the books, in ms. */
  public static final String BOOKS_INTERVAL_MS = PREFIX + "rm.books-interval-ms";
  /** How often a MapReduce job is asked for its tasks and their progress, in ms; 0: never. */
  public static final String PROGRESS_INTERVAL_MS = PREFIX + "rm.progress-interval-ms";
  /** At most so many requests a second go to all MapReduce jobs together. */
  public static final String PROGRESS_REQUESTS_PER_SECOND = PREFIX + "rm.progress-requests-per-second";
  /** How long an answer may take, in ms. */
  public static final String PROGRESS_TIMEOUT_MS = PREFIX + "rm.progress-timeout-ms";
  /** On this UDP port the ResourceManager hears what applications report by themselves; 0: on none. */
  public static final String REPORT_PORT = PREFIX + "rm.report-port";
  /** Where stock places, what is suspended and has found no room for so long is killed, in ms; 0: never. */
  public static final String DRAIN_KILL_MS = PREFIX + "rm.drain-kill-ms";
  /** Which nodes are the physical ones of a mixed cluster; see {@link Sides}. */
  public static final String PHYSICAL_NODES = PREFIX + "rm.physical-nodes";
  /** Which are the virtual ones. */
  public static final String VIRTUAL_NODES = PREFIX + "rm.virtual-nodes";
  /** A directory for logs of all that the core is told and answers; none by default. */
  public static final String RECORD_DIR = PREFIX + "rm.record-dir";
  /** All logs there together take no more, in MiB. */
  public static final String RECORD_MAX_MB = PREFIX + "rm.record-max-mb";
  /** A directory for the database of what jobs took; none by default. */
  public static final String HISTORY_DIR = PREFIX + "rm.history-dir";
  /** So many runs of jobs are remembered there. */
  public static final String HISTORY_MAX_RUNS = PREFIX + "rm.history-max-runs";
  /** Below this the native library is extracted to be loaded; below hadoop.tmp.dir or java.io.tmpdir by default. */
  public static final String EXTRACT_DIR = PREFIX + "native.extract-dir";

  /** The end of what is said of a wrong value, here and in the library; it is true of a refresh. */
  public static final String KEPT = "; the settings in force are kept";

  private static final String QUEUE_PREFIX = "yarn.scheduler.capacity.";

  /** The rungs of the ladder of trust. */
  public enum Mode {
    OFF, OBSERVE, ORDER, SUSPEND, KILL
  }

  private final Configuration conf;

  public HiatusConfiguration(Configuration conf) {
    this.conf = conf;
  }

  /** One by which Hiatus is off, and all else is as by default. */
  public static HiatusConfiguration off() {
    Configuration off = new Configuration(false);
    off.set(MODE, "off");
    return new HiatusConfiguration(off);
  }

  /** Whether the administrator has asked for CapacityScheduler's own preemption. */
  public static boolean hasStockPreemption(Configuration conf) {
    return conf.getBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, YarnConfiguration.DEFAULT_RM_SCHEDULER_ENABLE_MONITORS)
        && Arrays.asList(conf.getTrimmedStrings(YarnConfiguration.RM_SCHEDULER_MONITOR_POLICIES))
            .contains(ProportionalCapacityPreemptionPolicy.class.getName());
  }

  /** The rung; an unknown word is refused. */
  public Mode mode() {
    String word = conf.getTrimmed(MODE, "suspend");
    try {
      return Mode.valueOf(word.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(MODE + " = \"" + word
          + "\": must be one of off, observe, order, suspend, kill" + KEPT, e);
    }
  }

  public long stepIntervalMs() {
    return whole(STEP_INTERVAL_MS, 100, 10, 10_000);
  }

  /** Whether steps are taken when no node reports in. */
  public boolean placesBetweenHeartbeats() {
    String text = conf.getTrimmed(PLACE_BETWEEN_HEARTBEATS, "true");
    if (!text.equals("true") && !text.equals("false")) {
      throw new IllegalArgumentException(PLACE_BETWEEN_HEARTBEATS + " = \"" + text
          + "\": must be true or false" + KEPT);
    }
    return text.equals("true");
  }

  public long stepBudgetMs() {
    return whole(STEP_BUDGET_MS, 1_000, 1, 600_000);
  }

  public long booksIntervalMs() {
    return whole(BOOKS_INTERVAL_MS, 5_000, 100, 3_600_000);
  }

  public long progressIntervalMs() {
    return whole(PROGRESS_INTERVAL_MS, 5_000, 0, 3_600_000);
  }

  public long progressRequestsPerSecond() {
    return whole(PROGRESS_REQUESTS_PER_SECOND, 20, 1, 1_000);
  }

  public long progressTimeoutMs() {
    return whole(PROGRESS_TIMEOUT_MS, 2_000, 1, 60_000);
  }

  /** Where the web proxy has an application's pages, if the proxy is a process of its own; null if it is the ResourceManager. */
  public URI webProxyOf(ApplicationId id) {
    return conf.getTrimmed(YarnConfiguration.PROXY_ADDRESS, "").isEmpty() ? null
        : URI.create(WebAppUtils.getHttpSchemePrefix(conf) + WebAppUtils.getProxyHostAndPort(conf) + ProxyUriUtils.getPath(id));
  }

  /** Where jobs report by themselves, on the host to which their ApplicationMasters speak; null: nowhere. */
  public InetSocketAddress reportAddress() {
    int port = (int) whole(REPORT_PORT, 0, 0, 0xffff);
    return port == 0 ? null : new InetSocketAddress(conf.getSocketAddr(YarnConfiguration.RM_BIND_HOST,
        YarnConfiguration.RM_SCHEDULER_ADDRESS, YarnConfiguration.DEFAULT_RM_SCHEDULER_ADDRESS,
        YarnConfiguration.DEFAULT_RM_SCHEDULER_PORT).getAddress(), port);
  }

  public long drainKillMs() {
    return whole(DRAIN_KILL_MS, 0, 0, 2_592_000_000L);
  }

  List<String> physicalNodes() {
    return Arrays.asList(conf.getTrimmedStrings(PHYSICAL_NODES));
  }

  List<String> virtualNodes() {
    return Arrays.asList(conf.getTrimmedStrings(VIRTUAL_NODES));
  }

  /** Where to record, or null. */
  public Path recordDir() {
    return directory(RECORD_DIR);
  }

  public long recordMaxBytes() {
    return whole(RECORD_MAX_MB, 1_024, 1, 1 << 20) << 20;
  }

  /** Where to remember what jobs took, or null. */
  public Path historyDir() {
    return directory(HISTORY_DIR);
  }

  public long historyMaxRuns() {
    return whole(HISTORY_MAX_RUNS, 100_000, 1, 10_000_000);
  }

  private Path directory(String key) {
    String set = conf.getTrimmed(key, "");
    if (set.isEmpty()) {
      return null;
    }
    Path dir = Paths.get(set);
    if (!dir.isAbsolute()) {
      throw new IllegalArgumentException(key + " = \"" + set + "\": must be an absolute path" + KEPT);
    }
    return dir;
  }

  /** Below which the native library may be extracted, in the order in which to try. */
  public Path[] extractDirs() {
    String set = conf.getTrimmed(EXTRACT_DIR);
    if (set != null) {
      return new Path[] {Paths.get(set)};
    }
    // The second is often mounted noexec on Hadoop's hosts; the first is often writable by a group.
    Path jvms = Paths.get(System.getProperty("java.io.tmpdir"));
    return new Path[] {Paths.get(conf.get("hadoop.tmp.dir", jvms.toString()), "hiatus"), jvms};
  }

  /** Reads everything of this side, so that a wrong value is found before anything changes. */
  public void check() {
    mode();
    stepIntervalMs();
    placesBetweenHeartbeats();
    stepBudgetMs();
    booksIntervalMs();
    progressIntervalMs();
    progressRequestsPerSecond();
    progressTimeoutMs();
    reportAddress();
    drainKillMs();
    recordDir();
    recordMaxBytes();
    historyDir();
    historyMaxRuns();
    new Sides(this);
  }

  /** Paths of the queues that have properties of Hiatus. */
  public Set<String> queues() {
    return conf.getPropsWithPrefix(QUEUE_PREFIX).keySet().stream().map(QueueProperty::pathBeforeKnob).filter(Objects::nonNull)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The core's properties as a JSON object of strings; those of this side pass through it, so that it finds misspelt ones. */
  public String coreProperties() {
    return properties(name -> true);
  }

  /** The same without those of this side, which name hosts and directories, and mean nothing to the core. */
  public String recordedProperties() {
    return properties(name -> !name.startsWith("rm.") && !name.startsWith("native."));
  }

  private String properties(Predicate<String> isWanted) {
    Map<String, String> properties = new TreeMap<>();
    conf.getPropsWithPrefix(PREFIX).forEach((name, value) -> {
      if (isWanted.test(name)) {
        properties.put(PREFIX + name, value);
      }
    });
    conf.getPropsWithPrefix(QUEUE_PREFIX).forEach((name, value) -> {
      if (QueueProperty.pathBeforeKnob(name) != null) {
        properties.put(QUEUE_PREFIX + name, value);
      }
    });
    try {
      return new ObjectMapper().writeValueAsString(properties);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("strings can be written as JSON", e);
    }
  }

  private long whole(String key, long byDefault, long low, long high) {
    String text = conf.getTrimmed(key, Long.toString(byDefault));
    try {
      long value = Long.parseLong(text);
      if (value >= low && value <= high) {
        return value;
      }
    } catch (NumberFormatException e) {
      // The same answer as for a number out of range.
    }
    throw new IllegalArgumentException(key + " = \"" + text + "\": must be a whole number from " + low
        + " to " + high + KEPT);
  }
}
