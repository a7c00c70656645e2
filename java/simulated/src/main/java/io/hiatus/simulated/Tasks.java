package io.hiatus.simulated;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * How far a job's tasks are, and how many containers its master wants. Reduces are not asked for while a map waits for a container, so
 * that they never hold its room; that is simpler than MapReduce's ramp-up, and as the simulator does it ({@code rust/world/src/app.rs}).
 */
final class Tasks {
  private static final class Stage {
    final JobSpec.Stage spec;
    /** Numbers of tasks that have no container. */
    final Deque<Integer> waiting = new ArrayDeque<>();
    int done;

    Stage(JobSpec.Stage spec) {
      this.spec = spec;
      for (int task = 0; task < spec.taskMs.length; task++) {
        waiting.add(task);
      }
    }

    int begun() {
      return spec.taskMs.length - waiting.size() - done;
    }

    boolean isDone() {
      return done == spec.taskMs.length;
    }
  }

  private final Stage[] stages;

  Tasks(List<JobSpec.Stage> specs) {
    stages = specs.stream().map(Stage::new).toArray(Stage[]::new);
  }

  int stages() {
    return stages.length;
  }

  int total(int stage) {
    return stage < stages.length ? stages[stage].spec.taskMs.length : 0;
  }

  int done(int stage) {
    return stage < stages.length ? stages[stage].done : 0;
  }

  /** How many containers a stage should be asking for. */
  int wanted(int stage) {
    if (stage > 0) {
      Stage before = stages[stage - 1];
      if (!before.waiting.isEmpty() || before.done < stages[stage].spec.slowstart * before.spec.taskMs.length) {
        return 0;
      }
    }
    return stages[stage].waiting.size();
  }

  /** Whether tasks of a stage may work: all of the stage before are done. */
  boolean isOpen(int stage) {
    return stage == 0 || stages[stage - 1].isDone();
  }

  /** Whether a stage's tasks hold containers though the stage before needs one and has none: one must be given back. */
  boolean blocksItself(int stage) {
    return stage > 0 && stages[stage].begun() > 0 && !stages[stage - 1].waiting.isEmpty() && stages[stage - 1].begun() == 0;
  }

  /** The number of a task that a container of that stage is for; null if none waits. */
  Integer take(int stage) {
    return stages[stage].waiting.poll();
  }

  /** A task has done its work. */
  void ended(int stage) {
    stages[stage].done++;
  }

  /** A task has lost its container, and has to be done again. */
  void lost(int stage, int task) {
    stages[stage].waiting.addFirst(task);
  }

  boolean allDone() {
    for (Stage stage : stages) {
      if (!stage.isDone()) {
        return false;
      }
    }
    return true;
  }

  /** The part of all tasks that is done, 0 to 1. */
  float progress() {
    int total = 0;
    int done = 0;
    for (Stage stage : stages) {
      total += stage.spec.taskMs.length;
      done += stage.done;
    }
    return (float) done / total;
  }
}
