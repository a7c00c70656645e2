package io.hiatus.report;

import java.util.Arrays;

/** What tasks that are alike take. */
public final class TaskTimes {
  private static final int MOST = 3;

  private TaskTimes() {
  }

  /**
   * Their mean in milliseconds, 0 if there are none. None counts for more than three times their median: such a task was the first of
   * its process and began that, or stood still, and those to come do not.
   */
  public static long meanMs(long... millis) {
    long[] sorted = millis.clone();
    Arrays.sort(sorted);
    long most = sorted.length == 0 ? 0 : Math.min(StageReport.LONGEST_MS, MOST * sorted[sorted.length / 2]);
    return (long) Arrays.stream(sorted).map(one -> Math.min(most, one)).average().orElse(0);
  }
}
