package io.hiatus.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What a MapReduce job says of itself: how many tasks it has, and where some of those are that run. Tasks are named by the numbers
 * of their containers within the attempt that speaks, so that there is no way to name another job's.
 */
public final class JobReport extends Report {
  static final int MAGIC = 0x48695201; // "HiR", layout 1
  private static final int FIXED_BYTES = 18;
  private static final int TASK_BYTES = 17;
  /** So many tasks fit into one report. */
  public static final int MOST_TASKS = (MOST_BYTES - HEADER_BYTES - FIXED_BYTES - HMAC_BYTES) / TASK_BYTES;

  /** What a task is at; the order is that of the layout. */
  public enum Phase {
    /** A map reads its input. */
    MAP,
    /** A map sorts and writes what it made. */
    MAP_SORT,
    /** A reduce fetches what maps made, or waits for that. */
    FETCH,
    /** A reduce merges what it has fetched. */
    SORT,
    /** A reduce does its own work. */
    REDUCE
  }

  /** A task that runs. */
  public static final class Task {
    /** Number of its container within the application attempt. */
    public final long container;
    /** What it is at. */
    public final Phase phase;
    /** What MapReduce calls its progress, 0 to 1. */
    public final float progress;
    /** Of how many maps it has the output; 0 if it is a map itself. */
    public final int fetched;

    /** @param fetched 0 for maps */
    public Task(long container, Phase phase, float progress, int fetched) {
      this.container = container;
      this.phase = phase;
      this.progress = progress;
      this.fetched = fetched;
    }
  }

  /** Maps of the job. */
  public final int mapsTotal;
  /** Maps that were done when the tasks had been looked at. */
  public final int mapsDone;
  /** Reduces of the job. */
  public final int reducesTotal;
  /** Reduces that are done. */
  public final int reducesDone;
  /** Of those that run, no more than {@link #MOST_TASKS}. */
  public final List<Task> tasks;

  /** Who speaks is in the first four. */
  public JobReport(long clusterTimestamp, int application, int attempt, int keyId, long number, int mapsTotal, int mapsDone,
      int reducesTotal, int reducesDone, List<Task> tasks) {
    super(clusterTimestamp, application, attempt, keyId, number);
    this.mapsTotal = mapsTotal;
    this.mapsDone = mapsDone;
    this.reducesTotal = reducesTotal;
    this.reducesDone = reducesDone;
    this.tasks = Collections.unmodifiableList(tasks);
  }

  JobReport(ByteBuffer in) throws IOException {
    super(in);
    check(in.remaining() >= FIXED_BYTES, "cut off");
    mapsTotal = in.getInt();
    mapsDone = in.getInt();
    reducesTotal = in.getInt();
    reducesDone = in.getInt();
    int count = in.getShort();
    check(mapsDone >= 0 && mapsTotal >= mapsDone && reducesDone >= 0 && reducesTotal >= reducesDone, "more tasks are done than there are");
    check(in.remaining() == count * TASK_BYTES, "not so long as its tasks");
    Phase[] phases = Phase.values();
    List<Task> read = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int phase = in.get();
      check(phase >= 0 && phase < phases.length, "no phase of a task");
      Task task = new Task(in.getLong(), phases[phase], in.getFloat(), in.getInt());
      check(task.container > 0, "no number of a container");
      check(task.progress >= 0 && task.progress <= 1, "no progress");
      check(task.fetched >= 0 && task.fetched <= mapsTotal, "more is fetched than there are maps");
      read.add(task);
    }
    tasks = Collections.unmodifiableList(read);
  }

  @Override
  int magic() {
    return MAGIC;
  }

  @Override
  int bodyBytes() {
    return FIXED_BYTES + tasks.size() * TASK_BYTES;
  }

  @Override
  void writeBody(ByteBuffer out) {
    out.putInt(mapsTotal).putInt(mapsDone).putInt(reducesTotal).putInt(reducesDone).putShort((short) tasks.size());
    for (Task task : tasks) {
      out.put((byte) task.phase.ordinal()).putLong(task.container).putFloat(task.progress).putInt(task.fetched);
    }
  }
}
