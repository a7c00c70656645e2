package io.hiatus.scheduler.progress;

import io.hiatus.scheduler.facts.FactWriter;
import org.apache.hadoop.yarn.api.records.ContainerId;

/** Where tasks of MapReduce jobs are, as jobs were asked for it or say it by themselves, told to the core for its lending. */
final class TaskReporter {
  /** The part of a map's progress that is reading its input, where there are reduces; then it sorts and writes what it made. */
  private static final double READING = 0.667;

  private TaskReporter() {
  }

  /**
   * Tells where a map is.
   *
   * @param progress what MapReduce calls that, 0 to 1
   * @param hasReduces whether its job has reduces
   */
  static void map(FactWriter listener, ContainerId container, double progress, boolean hasReduces) {
    double read = hasReduces ? Math.min(1, progress / READING) : progress;
    listener.mapTold(container, read, hasReduces && progress >= READING);
  }

  /**
   * Tells how far a reduce is with fetching.
   *
   * @param done maps that were done after the reduce was looked at: what it has not fetched of them it had not fetched then
   * @param total maps of its job
   */
  static void reduce(FactWriter listener, ContainerId container, int fetched, int done, int total) {
    if (fetched <= done) {
      listener.reduceTold(container, fetched, done, total);
    }
  }

  /**
   * The part of its own work that a reduce has done, by what MapReduce calls its progress; less than 0 while it waits for maps,
   * fetches and sorts what they made: that is the first two thirds.
   */
  static double ofReduce(double progress) {
    return 3 * progress - 2;
  }
}
