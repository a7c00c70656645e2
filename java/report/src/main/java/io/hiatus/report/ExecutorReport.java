package io.hiatus.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What executors are worth to their application: which of them it misses least if they stand still. They are named by the numbers of their
 * containers within the attempt that speaks. One of which nothing was said for a while is taken to be busy.
 */
public final class ExecutorReport extends Report {
  static final int MAGIC = 0x48695203; // "HiR", layout 3
  private static final int FIXED_BYTES = 2;
  private static final int EXECUTOR_BYTES = 9;
  /** So many executors fit into one report. */
  public static final int MOST_EXECUTORS = (MOST_BYTES - HEADER_BYTES - FIXED_BYTES - HMAC_BYTES) / EXECUTOR_BYTES;

  /** What one is worth; the order is that of the layout. */
  public enum Worth {
    /** It has no task, and keeps nothing. */
    IDLE,
    /** It has tasks. */
    BUSY,
    /** It keeps what others may want of it: data in its memory, or outputs that nothing else on its node serves. */
    KEEPS
  }

  /** By the numbers of their containers, no more than {@link #MOST_EXECUTORS}. */
  public final Map<Long, Worth> executors;

  /** Who speaks is in the first four. */
  public ExecutorReport(long clusterTimestamp, int application, int attempt, int keyId, long number, Map<Long, Worth> executors) {
    super(clusterTimestamp, application, attempt, keyId, number);
    this.executors = Collections.unmodifiableMap(executors);
  }

  ExecutorReport(ByteBuffer in) throws IOException {
    super(in);
    check(in.remaining() >= FIXED_BYTES, "cut off");
    int count = in.getShort();
    check(in.remaining() == count * EXECUTOR_BYTES, "not so long as its executors");
    Worth[] worths = Worth.values();
    Map<Long, Worth> read = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      long container = in.getLong();
      int worth = in.get();
      check(container > 0, "no number of a container");
      check(worth >= 0 && worth < worths.length, "nothing that an executor is worth");
      read.put(container, worths[worth]);
    }
    executors = Collections.unmodifiableMap(read);
  }

  @Override
  int magic() {
    return MAGIC;
  }

  @Override
  int bodyBytes() {
    return FIXED_BYTES + executors.size() * EXECUTOR_BYTES;
  }

  @Override
  void writeBody(ByteBuffer out) {
    out.putShort((short) executors.size());
    executors.forEach((container, worth) -> out.putLong(container).put((byte) worth.ordinal()));
  }
}
