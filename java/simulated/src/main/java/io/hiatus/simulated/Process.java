package io.hiatus.simulated;

import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ContainerSubState;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;

/** A container on its node: it works only while it runs. All times are milliseconds of one clock. */
final class Process {
  /** What it does. */
  enum Activity {
    /** It arrived, and there was no room for it. */
    QUEUED(ContainerSubState.SCHEDULED),
    /** It runs. */
    RUNNING(ContainerSubState.RUNNING),
    /** It stands still, and keeps what it did. */
    PAUSED(ContainerSubState.PAUSED);

    private final ContainerSubState reported;

    Activity(ContainerSubState reported) {
      this.reported = reported;
    }
  }

  final ContainerId id;
  final Resource size;
  private final long workMs;
  private long leftMs;
  /** It waits for something: it runs, and works nothing off. */
  private boolean gated;
  private Activity activity = Activity.QUEUED;
  private long sinceMs;
  private ExecutionType type;
  private int version;

  /**
   * @param version of the container, by which a node tells new orders from old ones
   * @param workMs how long it has to run
   * @param gated not before {@link #open}
   */
  Process(ContainerId id, Resource size, ExecutionType type, int version, long workMs, boolean gated) {
    this.id = id;
    this.size = size;
    this.type = type;
    this.version = version;
    this.workMs = workMs;
    this.leftMs = workMs;
    this.gated = gated;
  }

  Activity activity() {
    return activity;
  }

  boolean isRunning() {
    return activity == Activity.RUNNING;
  }

  boolean isGuaranteed() {
    return type == ExecutionType.GUARANTEED;
  }

  /** The part of its work that is done, 0 to 1. */
  double done(long now) {
    long left = isRunning() && !gated ? leftMs - (now - sinceMs) : leftMs;
    return workMs == 0 ? 1 : 1 - Math.max(0, left) / (double) workMs;
  }

  /** When it will have done its work if nothing comes between; never while it waits or stands still. */
  long endMs() {
    return isRunning() && !gated ? sinceMs + leftMs : Long.MAX_VALUE;
  }

  void run(long now) {
    activity = Activity.RUNNING;
    sinceMs = now;
  }

  void pause(long now) {
    settle(now);
    activity = Activity.PAUSED;
  }

  /** What it waited for is there. */
  void open(long now) {
    settle(now);
    gated = false;
  }

  /** Takes an order of the ResourceManager; false if it is not newer than the last. */
  boolean update(ExecutionType newType, int newVersion) {
    if (newVersion <= version) {
      return false;
    }
    type = newType;
    version = newVersion;
    return true;
  }

  private void settle(long now) {
    if (isRunning()) {
      leftMs -= gated ? 0 : now - sinceMs;
      sinceMs = now;
    }
  }

  /** What a NodeManager reports of it: whatever is not over is "running", and the state below says more. */
  ContainerStatus status() {
    ContainerStatus status = ContainerStatus.newInstance(id, type, ContainerState.RUNNING, "", 0);
    status.setContainerSubState(activity.reported);
    status.setCapability(size);
    return status;
  }
}
