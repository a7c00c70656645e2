package io.hiatus.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What an application says of its stages whose containers do not end with their tasks: executors, which take one after the other.
 * All that it knows is in one report, which takes the place of the one before.
 */
public final class StageReport extends Report {
  static final int MAGIC = 0x48695202; // "HiR", layout 2
  private static final int FIXED_BYTES = 3;
  private static final int STAGE_BYTES = 26;
  /** So many stages fit into one report. */
  public static final int MOST_STAGES = (MOST_BYTES - HEADER_BYTES - FIXED_BYTES - HMAC_BYTES) / STAGE_BYTES;

  /** A stage has no more tasks. */
  public static final int MOST_TASKS = 10_000_000;
  /** No task takes longer. */
  public static final long LONGEST_MS = TimeUnit.DAYS.toMillis(30);
  /** The request priority of a stage whose tasks run in whatever container the application has. */
  public static final int ANY_CONTAINER = -1;
  /** A container runs no more tasks at a time. */
  public static final int MOST_SLOTS = 1_024;

  /** Tasks that are alike: a stage, or all those that are done, or that have not begun. */
  public static final class Stage {
    /** The request priority of containers that run them, or {@link #ANY_CONTAINER}. */
    public final int priority;
    /** All of them, done or not. */
    public final int tasks;
    /** Those that run; together with those that are done no more than all. */
    public final int running;
    /** Those that are done. */
    public final int done;
    /** Mean run time of those that are done, in milliseconds, without what their containers were suspended for. */
    public final long eachMs;
    /** How many a container runs at a time. */
    public final int slots;

    /** @param eachMs 0 if none is done */
    public Stage(int priority, int tasks, int running, int done, long eachMs, int slots) {
      this.priority = priority;
      this.tasks = tasks;
      this.running = running;
      this.done = done;
      this.eachMs = eachMs;
      this.slots = slots;
    }

    @Override
    public String toString() {
      return "priority " + priority + ": " + done + " done, " + running + " running of " + tasks + ", " + eachMs + " ms, " + slots + " at a time";
    }
  }

  /** Whether stages may follow of which the application does not know yet. */
  public final boolean more;
  /** What it knows, no more than {@link #MOST_STAGES}. */
  public final List<Stage> stages;

  /** Who speaks is in the first four. */
  public StageReport(long clusterTimestamp, int application, int attempt, int keyId, long number, boolean more, List<Stage> stages) {
    super(clusterTimestamp, application, attempt, keyId, number);
    this.more = more;
    this.stages = Collections.unmodifiableList(stages);
  }

  StageReport(ByteBuffer in) throws IOException {
    super(in);
    check(in.remaining() >= FIXED_BYTES, "cut off");
    more = in.get() != 0;
    int count = in.getShort();
    check(in.remaining() == count * STAGE_BYTES, "not so long as its stages");
    List<Stage> read = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      Stage stage = new Stage(in.getInt(), in.getInt(), in.getInt(), in.getInt(), in.getLong(), in.getShort());
      check(stage.priority >= ANY_CONTAINER, "no request priority");
      check(stage.tasks >= 0 && stage.tasks <= MOST_TASKS, "no number of tasks");
      check(stage.running >= 0 && stage.done >= 0 && stage.running <= stage.tasks - stage.done, "more tasks run or are done than there are");
      check(stage.eachMs >= 0 && stage.eachMs <= LONGEST_MS, "no run time of a task");
      check(stage.slots > 0 && stage.slots <= MOST_SLOTS, "no number of tasks at a time");
      read.add(stage);
    }
    stages = Collections.unmodifiableList(read);
  }

  @Override
  int magic() {
    return MAGIC;
  }

  @Override
  int bodyBytes() {
    return FIXED_BYTES + stages.size() * STAGE_BYTES;
  }

  @Override
  void writeBody(ByteBuffer out) {
    out.put((byte) (more ? 1 : 0)).putShort((short) stages.size());
    for (Stage stage : stages) {
      out.putInt(stage.priority).putInt(stage.tasks).putInt(stage.running).putInt(stage.done).putLong(stage.eachMs).putShort((short) stage.slots);
    }
  }
}
