package io.hiatus.scheduler;

import java.nio.ByteBuffer;

/**
 * The core's answers to one call, in their order. The core keeps those that do not fit into the buffer until they are
 * fetched: no other call that answers may come between.
 */
final class Answers {
  private final ByteBuffer buffer = FactBuffer.fresh(1 << 16);
  private final long core;
  private final Recording recording;
  private int length;
  private int at;

  Answers(long core) {
    this(core, Recording.NONE);
  }

  /** Answers that are recorded as they come. */
  Answers(long core, Recording recording) {
    this.core = core;
    this.recording = recording;
  }

  /** What the next call to the core fills. */
  ByteBuffer buffer() {
    return buffer;
  }

  /** That call answered with so many bytes. */
  void begin(int bytes) {
    length = bytes;
    at = 0;
    recording.answered(buffer, bytes);
  }

  boolean hasNext() {
    if (at == length && length > 0) {
      begin(Native.rest(core, buffer));
    }
    return at < length;
  }

  /** Where the next answer begins in the buffer; good until hasNext is called. */
  int next() {
    int here = at;
    at += buffer.getInt(at + 4);
    return here;
  }
}
