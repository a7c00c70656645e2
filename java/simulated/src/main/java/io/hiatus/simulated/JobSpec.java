package io.hiatus.simulated;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.Resource;

/** A job of a workload file, in the form that {@code hiatus simulate cluster} reads and writes: what it says under "simulated". */
final class JobSpec {
  /** Maps, or reduces. */
  static final class Stage {
    /** Milliseconds of each task. */
    final long[] taskMs;
    /** Of a container. */
    final Resource size;
    /** The part of the stage before that is done before it asks for containers. */
    final double slowstart;

    Stage(long[] taskMs, Resource size, double slowstart) {
      this.taskMs = taskMs;
      this.size = size;
      this.slowstart = slowstart;
    }
  }

  final String name;
  /** After the begin of the workload. */
  final long atMs;
  final String queue;
  final int masterMb;
  /** Maps, and reduces if there are any. */
  final List<Stage> stages;

  JobSpec(String name, long atMs, String queue, int masterMb, List<Stage> stages) {
    this.name = name;
    this.atMs = atMs;
    this.queue = queue;
    this.masterMb = masterMb;
    this.stages = stages;
  }

  /**
   * The jobs of a file.
   *
   * @throws IOException if it cannot be read, or a job is none that a MapReduce master can run, naming the job
   */
  static List<JobSpec> read(File file) throws IOException {
    List<JobSpec> jobs = new ArrayList<>();
    for (JsonNode job : new ObjectMapper().readTree(file).path("jobs")) {
      String name = job.path("name").asText();
      JsonNode simulated = job.path("simulated");
      List<Stage> stages = new ArrayList<>();
      for (JsonNode stage : simulated.path("stages")) {
        stages.add(new Stage(times(stage), Resource.newInstance(stage.path("memory_mb").asInt(1024), stage.path("vcores").asInt(1)),
            stage.path("slowstart").asDouble(1)));
      }
      if (stages.isEmpty() || stages.size() > 2 || stages.stream().anyMatch(stage -> stage.taskMs.length == 0)) {
        throw new IOException(file + ": job '" + name + "' must have one stage or two under \"simulated\", with tasks in each");
      }
      jobs.add(new JobSpec(name, Math.round(job.path("at_s").asDouble() * 1000),
          simulated.path("queue").asText("root.default").replaceFirst("^root\\.", ""), simulated.path("master_mb").asInt(1024), stages));
    }
    return jobs;
  }

  private static long[] times(JsonNode stage) {
    JsonNode each = stage.path("task_s");
    long[] times = new long[each.isArray() ? each.size() : stage.path("tasks").asInt()];
    for (int task = 0; task < times.length; task++) {
      times[task] = Math.round(1000 * (each.isArray() ? each.get(task).asDouble() : stage.path("each_s").asDouble()));
    }
    return times;
  }
}
