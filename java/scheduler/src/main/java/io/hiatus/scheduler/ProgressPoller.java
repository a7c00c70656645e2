package io.hiatus.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks running MapReduce jobs how many tasks they have and how far their first ones are, and tells the core. On a thread
 * of its own, and a few requests per second: what nobody answers the core estimates without.
 */
final class ProgressPoller extends Thread {
  private static final Logger LOG = LoggerFactory.getLogger(ProgressPoller.class);
  private static final String MAPREDUCE = "MAPREDUCE";
  /** Of so many tasks of a type the core wants to know, and of no others (FIRST_TASKS in rust/core/src/state/job.rs). */
  private static final int FIRST_TASKS = 32;

  private final Supplier<Collection<RMApp>> apps;
  private final Supplier<Facts> facts;
  private final HiatusConfiguration conf;
  private final Map<ApplicationId, Job> jobs = new HashMap<>();

  /**
   * @param apps the applications of the cluster
   * @param facts where the core listens, or null while it does not
   */
  ProgressPoller(Supplier<Collection<RMApp>> apps, Supplier<Facts> facts, HiatusConfiguration conf) {
    super("HiatusProgress");
    setDaemon(true);
    this.apps = apps;
    this.facts = facts;
    this.conf = conf;
  }

  @Override
  public void run() {
    try {
      while (true) {
        long begun = System.nanoTime();
        round();
        Thread.sleep(Math.max(1, conf.progressIntervalMs() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun)));
      }
    } catch (InterruptedException e) {
      // The scheduler stops.
    }
  }

  /** Asks every running job once. */
  void round() throws InterruptedException {
    Map<ApplicationId, RMApp> running = apps.get().stream()
        .filter(app -> MAPREDUCE.equals(app.getApplicationType()) && app.getState() == RMAppState.RUNNING)
        .collect(Collectors.toMap(RMApp::getApplicationId, app -> app));
    jobs.keySet().retainAll(running.keySet());
    for (Map.Entry<ApplicationId, RMApp> entry : running.entrySet()) {
      Facts listener = facts.get();
      String url = urlOfMaster(entry.getValue());
      if (listener != null && url != null) {
        jobs.computeIfAbsent(entry.getKey(), Job::new).poll(url, listener);
      }
    }
  }

  /** Where the master registered its web service, if that is on its own node: nobody makes us ask a third party. */
  private static String urlOfMaster(RMApp app) {
    RMAppAttempt attempt = app.getCurrentAppAttempt();
    String url = app.getOriginalTrackingUrl();
    if (attempt == null || attempt.getMasterContainer() == null || url == null) {
      return null;
    }
    try {
      String host = URI.create(url.contains("://") ? url : "http://" + url).getHost();
      return attempt.getMasterContainer().getNodeId().getHost().equalsIgnoreCase(host) ? url : null;
    } catch (IllegalArgumentException e) {
      return null; // it registered no URL
    }
  }

  private void pace() throws InterruptedException {
    Thread.sleep(Math.max(1, TimeUnit.SECONDS.toMillis(1) / conf.progressRequestsPerSecond()));
  }

  /** What is known of one job. */
  private final class Job {
    private final ApplicationId id;
    private final Map<String, ContainerId> containers = new HashMap<>();
    private final Map<String, Integer> looked = new HashMap<>();
    private int failures;
    private int roundsToSkip;

    Job(ApplicationId id) {
      this.id = id;
    }

    void poll(String url, Facts listener) throws InterruptedException {
      if (roundsToSkip > 0) {
        roundsToSkip--;
        return;
      }
      try {
        MapReduceMaster master = new MapReduceMaster(url, id, conf.progressTimeoutMs());
        pace();
        JsonNode job = master.job();
        listener.tasks(id, MapReduceMaster.MAP_PRIORITY, count(job, "mapsTotal"), count(job, "mapsCompleted"));
        listener.tasks(id, MapReduceMaster.REDUCE_PRIORITY, count(job, "reducesTotal"), count(job, "reducesCompleted"));
        pace();
        for (JsonNode task : oldestFirst(master.tasks())) {
          ContainerId container = containerOf(task, master);
          if (container != null) {
            listener.progress(container, MapReduceMaster.done(task));
          }
        }
        failures = 0;
      } catch (IOException | RuntimeException e) { // whatever a user's process answers
        roundsToSkip = ++failures;
        LOG.debug("{} does not say how far it is", id, e);
      }
    }

    private int count(JsonNode job, String field) throws IOException {
      JsonNode number = job.path(field);
      if (!number.canConvertToInt() || number.asInt() < 0) {
        throw new IOException("no " + field + ": " + job);
      }
      return number.asInt();
    }

    private List<JsonNode> oldestFirst(Iterable<JsonNode> tasks) {
      List<JsonNode> running = new ArrayList<>();
      tasks.forEach(task -> {
        if (task.path("state").asText().equals("RUNNING")) {
          running.add(task);
        }
      });
      running.sort(Comparator.comparingLong(task -> task.path("startTime").asLong()));
      return running;
    }

    /** Of a first task; asked for once, for containers do not change. */
    private ContainerId containerOf(JsonNode task, MapReduceMaster master) throws IOException, InterruptedException {
      String name = task.path("id").asText();
      ContainerId known = containers.get(name);
      if (known == null && looked.getOrDefault(task.path("type").asText(), 0) < FIRST_TASKS) {
        pace();
        known = master.containerOf(name);
        if (known != null) {
          containers.put(name, known);
          looked.merge(task.path("type").asText(), 1, Integer::sum);
        }
      }
      return known;
    }
  }
}
