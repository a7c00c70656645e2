package io.hiatus.scheduler.facts;

import org.apache.hadoop.yarn.api.records.ContainerExitStatus;

/** How a container ended; the order is that of the record. */
public enum Exit {
  SUCCEEDED, FAILED, KILLED;

  /** What YARN's exit status says. */
  public static Exit of(int status) {
    // Negative statuses are YARN's own: aborted, preempted, lost, killed by somebody.
    return status == ContainerExitStatus.SUCCESS ? SUCCEEDED : status > 0 ? FAILED : KILLED;
  }
}
