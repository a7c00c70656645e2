package io.hiatus.scheduler.bridge;

import java.nio.ByteBuffer;

/**
 * The native methods of libhiatus (rust/jni/src/entry.rs). All throw {@link NativeException}. Load the library with
 * {@link NativeLibrary} first.
 */
public final class Native {
  private Native() {
  }

  /** The library's ABI number, to be compared with {@link Records#ABI}. */
  static native int abi();

  /** Makes a core from properties (a JSON object of strings); returns its handle. */
  public static native long create(String properties);

  /** Puts other properties in force; refused ones change nothing. */
  public static native void configure(long handle, String properties);

  /** Throws if the properties would be refused. */
  public static native void check(String properties);

  /**
   * One step over {@code length} bytes of facts; returns the bytes of answers, with {@link Records#MORE}, {@link Records#SAID},
   * {@link Records#LENDS} and {@link Records#ADMITS}. What did not fit waits for {@link #remainingAnswers}.
   */
  public static native long step(long handle, long nowMs, ByteBuffer facts, int length, ByteBuffer answers);

  /** More answers of the last call; 0 when there are none. */
  static native int remainingAnswers(long handle, ByteBuffer answers);

  /** Whether another step is worth while before there are new facts. */
  public static native boolean hasMore(long handle);

  /** What the core knows of the nodes whose numbers fill {@code length} bytes, as views; nothing of unknown ones. */
  public static native int nodeViews(long handle, ByteBuffer nodes, int length, ByteBuffer answers);

  /** What the core knows, as views. */
  public static native int views(long handle, ByteBuffer answers);

  /** What happened since the core was made, a {@link Records.TallyView}, and of each queue a {@link Records.QueueLoad}. */
  public static native int tally(long handle, ByteBuffer answers);

  /** Who is let in next, and who need not count, as {@link Records.Admission}s. */
  public static native int admissions(long handle, ByteBuffer answers);

  /** The number of the class of jobs that an application of that name, with these tags, one a line, is a run of. */
  public static native long jobClass(String name, String tags);

  /** From now on jobs are remembered in that directory, so many runs of them; nowhere if it is null. Waits for no disk. */
  public static native void keepHistory(long handle, String dir, long mostRuns);

  /** What has become known of applications since the last call, as facts for the next step. */
  public static native int known(long handle, ByteBuffer answers);

  /** Order, sizes, suspensions and claims, with their reasons, as JSON. */
  public static native String explain(long handle);

  /** From now on what the library says up to that level is kept for said: 0 for nothing, 1 for errors, up to 5 for traces. */
  static native void listen(int level);

  /** What it said since the last call, one message a line behind a digit for its level; null for nothing. */
  static native String said();

  /** Ends the core. */
  public static native void destroy(long handle);

  /** Panics inside the core, for the tests of the boundary. */
  public static native void testingPanic(long handle, String message);
}
