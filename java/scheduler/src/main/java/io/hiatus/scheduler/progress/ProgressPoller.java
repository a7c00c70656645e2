package io.hiatus.scheduler.progress;

import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.progress.MapReduceMaster.Count;
import io.hiatus.scheduler.progress.MapReduceMaster.Task;
import io.hiatus.scheduler.progress.MapReduceMaster.Type;
import java.io.IOException;
import java.net.URI;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.http.conn.socket.LayeredConnectionSocketFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks running MapReduce jobs how many tasks they have and how far their first ones are, and tells the core. On a thread
 * of its own, and a few requests per second: what nobody answers the core estimates without. Whoever answers badly or
 * slowly costs the others little: one visit is short, the next ones are later and later, and who answers is asked first.
 */
public final class ProgressPoller extends Thread {
  private static final Logger LOG = LoggerFactory.getLogger(ProgressPoller.class);
  /** Type of the applications that are MapReduce jobs. */
  private static final String MAP_REDUCE = "MAPREDUCE";
  /** Of so many tasks of a type the core wants to know, and of no others (FIRST_TASKS in rust/core/src/state/job.rs). */
  private static final int FIRST_TASKS = 32;
  /** So many containers of tasks are asked for in one visit, of each type. */
  private static final int LOOKS_PER_VISIT = 4;
  /** Who keeps failing is asked in one of so many rounds at least. */
  private static final int MOST_ROUNDS_TO_SKIP = 64;

  private final Supplier<Collection<RMApp>> apps;
  private final Supplier<FactWriter> facts;
  private final Predicate<ApplicationId> reports;
  private final Function<ApplicationId, LayeredConnectionSocketFactory> tls;
  private final HiatusConfiguration conf;
  private final MasterClient client = new MasterClient();
  private final ProgressMetrics metrics = ProgressMetrics.register();
  private final Map<ApplicationId, Job> jobs = new HashMap<>();
  private long visits;

  /**
   * @param apps the applications of the cluster
   * @param facts where the core listens, or null while it does not
   * @param reports whether an application tells by itself, and need not be asked
   * @param tls how an application's master is spoken to that wants TLS
   */
  public ProgressPoller(Supplier<Collection<RMApp>> apps, Supplier<FactWriter> facts, Predicate<ApplicationId> reports,
      Function<ApplicationId, LayeredConnectionSocketFactory> tls, HiatusConfiguration conf) {
    super("HiatusProgress");
    setDaemon(true);
    // YARN's own handler would end the ResourceManager.
    setUncaughtExceptionHandler((thread, e) -> LOG.error("No job is asked for its progress any more", e));
    this.apps = apps;
    this.facts = facts;
    this.reports = reports;
    this.tls = tls;
    this.conf = conf;
  }

  @Override
  public void run() {
    try {
      while (!isInterrupted()) {
        long begun = System.nanoTime();
        try {
          round();
        } catch (RuntimeException | Error e) { // not even for want of memory this ends
          LOG.warn("A round of asking jobs for their progress failed", e);
        }
        Thread.sleep(Math.max(1, conf.progressIntervalMs() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun)));
      }
    } catch (InterruptedException e) {
      // The scheduler stops.
    }
  }

  /** Asks no more. Does not wait for whoever is being asked. */
  public void end() {
    interrupt();
    client.close();
  }

  /** Asks every running job once: those first that answer, the others as far as the time of one interval lasts. */
  void round() throws InterruptedException {
    Map<ApplicationId, RMApp> running = apps.get().stream()
        .filter(app -> MAP_REDUCE.equals(app.getApplicationType()) && app.getState() == RMAppState.RUNNING
            && !reports.test(app.getApplicationId()))
        .collect(Collectors.toMap(RMApp::getApplicationId, app -> app));
    jobs.keySet().retainAll(running.keySet());
    running.forEach((id, app) -> jobs.computeIfAbsent(id, any -> new Job(app)));
    Map<String, Long> failing =
        jobs.values().stream().filter(job -> job.failures > 0).collect(Collectors.groupingBy(job -> job.user, Collectors.counting()));
    List<Job> due = jobs.values().stream().filter(Job::isDue)
        .sorted(Comparator.comparing((Job job) -> !job.answers()).thenComparing(job -> job.failures)
            .thenComparing(job -> failing.getOrDefault(job.user, 0L)).thenComparing(job -> job.lastVisit))
        .collect(Collectors.toList());
    long begun = System.nanoTime();
    long othersSince = 0;
    int seen = 0;
    for (Job job : due) {
      if (!job.answers() && othersSince == 0) {
        othersSince = System.nanoTime();
      } else if (!job.answers() && System.nanoTime() - othersSince > TimeUnit.MILLISECONDS.toNanos(conf.progressIntervalMs())) {
        break;
      }
      seen++;
      FactWriter listener = facts.get();
      URI address = job.byProxy ? conf.webProxyOf(job.id) : MasterAddress.of(running.get(job.id));
      if (listener != null && address != null) {
        job.visit(address, listener);
      }
    }
    metrics.jobs.set(jobs.size());
    metrics.failing.set((int) jobs.values().stream().filter(job -> job.failures > 0).count());
    metrics.leftOut.set(due.size() - seen);
    metrics.roundMillis.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
  }

  private void pace() throws InterruptedException {
    Thread.sleep(Math.max(1, TimeUnit.SECONDS.toMillis(1) / conf.progressRequestsPerSecond()));
  }

  /** What is known of one job. */
  private final class Job {
    private final ApplicationId id;
    private final String user;
    private final Map<Type, Map<String, ContainerId>> containers = new EnumMap<>(Type.class);
    /** In a row. */
    private int failures;
    private int roundsToSkip;
    /** It is asked by way of the web proxy, since it did not answer the ResourceManager: its filter may know the proxy's address only. */
    private boolean byProxy;
    /** How it is spoken to over TLS, once it was: that takes a key pair of its own. */
    private LayeredConnectionSocketFactory ownTls;
    /** Number of the last visit to it among all visits; 0: there was none. */
    private long lastVisit;

    Job(RMApp app) {
      id = app.getApplicationId();
      user = String.valueOf(app.getUser());
      for (Type type : Type.values()) {
        containers.put(type, new HashMap<>());
      }
    }

    boolean isDue() {
      return roundsToSkip-- <= 0;
    }

    /** It did when it was last asked. */
    boolean answers() {
      return lastVisit != 0 && failures == 0;
    }

    private LayeredConnectionSocketFactory tlsOf(URI address) {
      if (!address.getScheme().equals("https")) {
        return null;
      }
      if (ownTls == null) {
        ownTls = tls.apply(id);
      }
      return ownTls;
    }

    void visit(URI address, FactWriter listener) throws InterruptedException {
      lastVisit = ++visits;
      try {
        MapReduceMaster master = new MapReduceMaster(client, tlsOf(address), address, id, conf.progressTimeoutMs());
        pace();
        List<Count> counts = master.counts();
        for (Type type : Type.values()) {
          Count count = counts.get(type.ordinal());
          listener.tasks(id, type.priority, count.total, count.done);
          if (count.done < count.total) {
            progress(type, master, listener, counts);
          }
        }
        failures = 0;
        roundsToSkip = 0;
        metrics.answered.incr();
      } catch (IOException | RuntimeException | Error e) { // whatever a user's process answers
        failures++;
        metrics.failed.incr();
        byProxy = !byProxy && conf.webProxyOf(id) != null;
        roundsToSkip = Math.min(MOST_ROUNDS_TO_SKIP, 1 << Math.min(failures - 1, 30));
        LOG.debug("{} does not say how far it is", id, e);
      }
    }

    private void progress(Type type, MapReduceMaster master, FactWriter listener, List<Count> counts)
        throws IOException, InterruptedException {
      pace();
      List<Task> oldestFirst = master.running(type);
      oldestFirst.sort(Comparator.comparingLong(task -> task.startMs));
      Map<String, ContainerId> known = containers.get(type);
      // Who may lend is told of whole: its reduces, and the maps that they wait for.
      boolean shuffles = listener.lends() && isShuffling(counts);
      int most = shuffles ? Integer.MAX_VALUE : FIRST_TASKS;
      if (shuffles) {
        known.keySet().retainAll(oldestFirst.stream().map(task -> task.id).collect(Collectors.toSet()));
      }
      int looks = 0;
      for (Task task : oldestFirst) {
        if (!known.containsKey(task.id) && known.size() < most && looks < LOOKS_PER_VISIT) {
          looks++;
          pace();
          ContainerId container = master.containerOf(task);
          if (container != null) {
            known.put(task.id, container); // asked for once, for containers do not change
          }
        }
        if (known.containsKey(task.id)) {
          listener.progress(known.get(task.id), task.done);
        }
      }
      if (listener.lends()) {
        tell(type, master, listener, counts, oldestFirst);
      }
    }

    private boolean isShuffling(List<Count> counts) {
      Count maps = counts.get(Type.MAP.ordinal());
      return maps.done < maps.total && counts.get(Type.REDUCE.ordinal()).total > 0;
    }

    /** Where the tasks are whose containers are known. */
    private void tell(Type type, MapReduceMaster master, FactWriter listener, List<Count> counts, List<Task> running)
        throws IOException, InterruptedException {
      Map<String, ContainerId> known = containers.get(type);
      running.removeIf(task -> !known.containsKey(task.id));
      if (type == Type.MAP) {
        boolean hasReduces = counts.get(Type.REDUCE.ordinal()).total > 0;
        running.forEach(map -> TaskReporter.map(listener, known.get(map.id), map.progress, hasReduces));
      } else if (!running.isEmpty() && isShuffling(counts)) {
        pace();
        Count maps = master.counts().get(Type.MAP.ordinal());
        for (Task reduce : running) { // the first third of its progress is the part of all maps that it has fetched
          int fetched = (int) Math.min(maps.total, Math.round(3 * reduce.progress * maps.total));
          TaskReporter.reduce(listener, known.get(reduce.id), fetched, maps.done, maps.total);
        }
      }
    }
  }
}
