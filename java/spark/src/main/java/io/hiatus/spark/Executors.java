package io.hiatus.spark;

import io.hiatus.report.ExecutorReport.Worth;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What executors do and keep. Who is asked for its blocks, or for what its tasks have left for others, and stands still, makes those wait.
 */
final class Executors {
  /** One of them. */
  private static final class Executor {
    /** The number of its container, once it has said that. */
    Long container;
    int running;
    /** Of which RDDs it has had blocks. That it dropped them all is not noticed. */
    final Set<Integer> rdds = new HashSet<>();
    /** Of which stages it has outputs that others fetch. */
    final Set<Integer> outputs = new HashSet<>();
  }

  private final boolean shuffleService;
  private final Map<String, Executor> all = new HashMap<>();

  /** @param shuffleService whether NodeManagers serve outputs, so that an executor does not */
  Executors(boolean shuffleService) {
    this.shuffleService = shuffleService;
  }

  private Executor of(String id) {
    return all.computeIfAbsent(id, any -> new Executor());
  }

  void runsIn(String id, long container) {
    of(id).container = container;
  }

  void begins(String id) {
    of(id).running++;
  }

  /** @param output the stage for whose followers the task has left something; null if there is none */
  void ends(String id, Integer output) {
    Executor executor = of(id);
    executor.running = Math.max(0, executor.running - 1);
    if (output != null && !shuffleService) {
      executor.outputs.add(output);
    }
  }

  void keeps(String id, int rdd) {
    of(id).rdds.add(rdd);
  }

  void forget(int rdd) {
    all.values().forEach(executor -> executor.rdds.remove(rdd));
  }

  void remove(String id) {
    all.remove(id);
  }

  /** By the numbers of their containers; outputs of other stages than these nobody needs. */
  Map<Long, Worth> worth(Set<Integer> stages) {
    Map<Long, Worth> worth = new HashMap<>();
    for (Executor executor : all.values()) {
      executor.outputs.retainAll(stages);
      if (executor.container != null) {
        boolean keeps = !executor.rdds.isEmpty() || !executor.outputs.isEmpty();
        worth.put(executor.container, keeps ? Worth.KEEPS : executor.running > 0 ? Worth.BUSY : Worth.IDLE);
      }
    }
    return worth;
  }
}
