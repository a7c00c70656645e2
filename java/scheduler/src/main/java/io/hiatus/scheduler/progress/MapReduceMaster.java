package io.hiatus.scheduler.progress;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.http.conn.socket.LayeredConnectionSocketFactory;

/**
 * One visit to the web service of a MapReduce job's ApplicationMaster, which answers to the web proxy's address only. It
 * belongs to a user and is trusted with nothing: all its answers together have limited time, each a limited size, and what
 * they say of other jobs is not believed.
 */
final class MapReduceMaster {
  /** Maps or reduces. */
  enum Type {
    MAP(20), REDUCE(10);

    /** Of its requests (MapReduce's RMContainerAllocator); maps that failed come with others. */
    final int priority;

    Type(int priority) {
      this.priority = priority;
    }

    private String letter() {
      return this == MAP ? "m" : "r";
    }
  }

  private static final Set<String> TASK = fields("id", "state", "startTime", "progress");
  private static final Set<String> ATTEMPT = fields("state", "assignedContainerId");

  private final MasterClient client;
  private final LayeredConnectionSocketFactory tls;
  private final URI root;
  private final ApplicationId id;
  private long nanosLeft;

  /**
   * @param tls null for HTTP
   * @param address where it is, or where the web proxy has it
   * @param visitMs for all answers together
   */
  MapReduceMaster(MasterClient client, LayeredConnectionSocketFactory tls, URI address, ApplicationId id, long visitMs) {
    this.client = client;
    this.tls = tls;
    this.id = id;
    this.root = URI.create(address + "/ws/v1/mapreduce/jobs/" + numbered("job"));
    this.nanosLeft = TimeUnit.MILLISECONDS.toNanos(visitMs);
  }

  private String numbered(String prefix) {
    return id.toString().replace(ApplicationId.appIdStrPrefix, prefix);
  }

  /** How many tasks of a type a job has, and how many of them are done. */
  static final class Count {
    final int total;
    final int done;

    private Count(Map<String, String> job, String word) throws IOException {
      total = count(job, word + "Total");
      done = count(job, word + "Completed");
    }
  }

  /** The counts of maps and of reduces, in the order of {@link Type}. */
  List<Count> counts() throws IOException {
    List<Map<String, String>> jobs =
        get("", fields("mapsTotal", "mapsCompleted", "reducesTotal", "reducesCompleted"), "job");
    Map<String, String> job = jobs.isEmpty() ? Collections.emptyMap() : jobs.get(0);
    return Arrays.asList(new Count(job, "maps"), new Count(job, "reduces"));
  }

  /** A task that runs. */
  static final class Task {
    final String id;
    final long startMs;
    /** The part of its own work that it has done, 0 to 1; less than 0 for a reduce that has not begun that. */
    final double done;
    /** What MapReduce calls its progress, 0 to 1. */
    final double progress;

    private Task(Map<String, String> task, Type type, String idPrefix) throws IOException {
      id = word(task, "id");
      startMs = (long) number(task, "startTime");
      progress = number(task, "progress") / 100;
      if (!id.startsWith(idPrefix) || !id.substring(idPrefix.length()).matches("\\d{1,9}") || !(progress >= 0 && progress <= 1)) {
        throw new IOException("no task of this job: " + task);
      }
      done = type == Type.REDUCE ? TaskReporter.ofReduce(progress) : progress;
    }
  }

  /** Those that run of the first tasks of a type: so many as fit into an answer. */
  List<Task> running(Type type) throws IOException {
    List<Task> running = new ArrayList<>();
    for (Map<String, String> task : get("/tasks?type=" + type.letter(), TASK, "tasks", "task")) {
      if ("RUNNING".equals(task.get("state"))) {
        running.add(new Task(task, type, numbered("task") + "_" + type.letter() + "_"));
      }
    }
    return running;
  }

  /** The container of a task's attempt that runs, or null. */
  ContainerId containerOf(Task task) throws IOException {
    for (Map<String, String> attempt : get("/tasks/" + task.id + "/attempts", ATTEMPT, "taskAttempts", "taskAttempt")) {
      if ("RUNNING".equals(attempt.get("state"))) {
        ContainerId container = container(word(attempt, "assignedContainerId"));
        if (!container.getApplicationAttemptId().getApplicationId().equals(id)) {
          throw new IOException(container + " is no container of " + id);
        }
        return container;
      }
    }
    return null;
  }

  private List<Map<String, String>> get(String below, Set<String> fields, String... path) throws IOException {
    int leftMs = (int) TimeUnit.NANOSECONDS.toMillis(nanosLeft);
    if (leftMs <= 0) {
      throw new IOException("its answers take too long");
    }
    long begun = System.nanoTime();
    try {
      return client.get(URI.create(root + below), tls, leftMs, body -> MasterAnswer.read(body, fields, path));
    } finally {
      nanosLeft -= System.nanoTime() - begun;
    }
  }

  private static ContainerId container(String text) throws IOException {
    try {
      return ContainerId.fromString(text);
    } catch (IllegalArgumentException e) {
      throw new IOException("no container id: " + text, e);
    }
  }

  private static int count(Map<String, String> from, String field) throws IOException {
    double number = number(from, field);
    if (!(number >= 0 && number <= Integer.MAX_VALUE) || number != Math.rint(number)) {
      throw new IOException(field + " is no number of tasks: " + number);
    }
    return (int) number;
  }

  private static double number(Map<String, String> from, String field) throws IOException {
    try {
      return Double.parseDouble(word(from, field));
    } catch (NumberFormatException e) {
      throw new IOException(field + " is no number", e);
    }
  }

  private static String word(Map<String, String> from, String field) throws IOException {
    String text = from.get(field);
    if (text == null) {
      throw new IOException("no " + field + ": " + from);
    }
    return text;
  }

  private static Set<String> fields(String... names) {
    return new HashSet<>(Arrays.asList(names));
  }
}
