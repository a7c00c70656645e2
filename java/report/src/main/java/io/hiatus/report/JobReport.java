package io.hiatus.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a MapReduce job says of itself in one datagram: how many tasks it has, and where some of those are that run. It has a
 * fixed layout, big-endian, and ends in an HMAC over all before with a secret that only the ResourceManager and the job's
 * ApplicationMaster have: the password of the application attempt's AMRM token. Tasks are named by the numbers of their
 * containers within that attempt, so that there is no way to name another job's.
 */
public final class JobReport {
  /** So long is a whole report at most: one packet on most networks. */
  public static final int MOST_BYTES = 1_400;

  private static final int MAGIC = 0x48695201; // "HiR", layout 1
  private static final int HEADER_BYTES = 50;
  private static final int TASK_BYTES = 17;
  private static final String HMAC = "HmacSHA256";
  private static final int HMAC_BYTES = 32;
  /** So many tasks fit into one report. */
  public static final int MOST_TASKS = (MOST_BYTES - HEADER_BYTES - HMAC_BYTES) / TASK_BYTES;

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

  /** When YARN's ApplicationIds of this cluster began: their first number. */
  public final long clusterTimestamp;
  /** Number of the application. */
  public final int application;
  /** Number of its attempt. */
  public final int attempt;
  /** Which of the ResourceManager's keys the attempt's token was made with. */
  public final int keyId;
  /** Higher than that of every report before. */
  public final long number;
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
    this.clusterTimestamp = clusterTimestamp;
    this.application = application;
    this.attempt = attempt;
    this.keyId = keyId;
    this.number = number;
    this.mapsTotal = mapsTotal;
    this.mapsDone = mapsDone;
    this.reducesTotal = reducesTotal;
    this.reducesDone = reducesDone;
    this.tasks = Collections.unmodifiableList(tasks);
  }

  /** As it is sent, signed with the secret. */
  public byte[] signed(byte[] secret) {
    ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + tasks.size() * TASK_BYTES + HMAC_BYTES);
    out.putInt(MAGIC).putLong(clusterTimestamp).putInt(application).putInt(attempt).putInt(keyId).putLong(number)
        .putInt(mapsTotal).putInt(mapsDone).putInt(reducesTotal).putInt(reducesDone).putShort((short) tasks.size());
    for (Task task : tasks) {
      out.put((byte) task.phase.ordinal()).putLong(task.container).putFloat(task.progress).putInt(task.fetched);
    }
    out.put(hmac(secret, out.array(), out.position()));
    return out.array();
  }

  /**
   * The report in the first {@code length} bytes; whether it is signed is another question.
   *
   * @throws IOException if those are no report, or it says what cannot be
   */
  public static JobReport read(byte[] data, int length) throws IOException {
    if (length < HEADER_BYTES + HMAC_BYTES || length > MOST_BYTES) {
      throw new IOException("no report is " + length + " bytes long");
    }
    ByteBuffer in = ByteBuffer.wrap(data, 0, length);
    check(in.getInt() == MAGIC, "no report, or one of another version");
    long clusterTimestamp = in.getLong();
    int application = in.getInt();
    int attempt = in.getInt();
    int keyId = in.getInt();
    long number = in.getLong();
    int mapsTotal = in.getInt();
    int mapsDone = in.getInt();
    int reducesTotal = in.getInt();
    int reducesDone = in.getInt();
    int count = in.getShort();
    check(mapsDone >= 0 && mapsTotal >= mapsDone && reducesDone >= 0 && reducesTotal >= reducesDone, "more tasks are done than there are");
    check(length == HEADER_BYTES + count * TASK_BYTES + HMAC_BYTES, "not so long as its tasks");
    Phase[] phases = Phase.values();
    List<Task> tasks = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int phase = in.get();
      check(phase >= 0 && phase < phases.length, "no phase of a task");
      Task task = new Task(in.getLong(), phases[phase], in.getFloat(), in.getInt());
      check(task.container > 0, "no number of a container");
      check(task.progress >= 0 && task.progress <= 1, "no progress");
      check(task.fetched >= 0 && task.fetched <= mapsTotal, "more is fetched than there are maps");
      tasks.add(task);
    }
    return new JobReport(clusterTimestamp, application, attempt, keyId, number, mapsTotal, mapsDone, reducesTotal, reducesDone, tasks);
  }

  /** Whether the last of those bytes are the signature of those before. */
  public static boolean isSigned(byte[] data, int length, byte[] secret) {
    byte[] claimed = Arrays.copyOfRange(data, length - HMAC_BYTES, length);
    return MessageDigest.isEqual(claimed, hmac(secret, data, length - HMAC_BYTES));
  }

  private static byte[] hmac(byte[] secret, byte[] data, int length) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(secret, HMAC));
      mac.update(data, 0, length);
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has " + HMAC, e);
    }
  }

  private static void check(boolean holds, String otherwise) throws IOException {
    if (!holds) {
      throw new IOException(otherwise);
    }
  }
}
