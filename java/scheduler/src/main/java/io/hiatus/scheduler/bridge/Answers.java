package io.hiatus.scheduler.bridge;

import java.nio.ByteBuffer;
import java.util.function.ObjIntConsumer;

/**
 * The core's answers to one call, in their order. The core keeps those that do not fit into the buffer until they are
 * fetched: no other call that answers may come between.
 */
public final class Answers {
  private final ByteBuffer buffer = FactBuffer.fresh(1 << 16);
  private final long core;
  private final ObjIntConsumer<ByteBuffer> listener;
  private int length;
  private int at;

  public Answers(long core) {
    this(core, (bytes, length) -> { });
  }

  /** Answers that {@code listener} hears, with their length in bytes, as they come. */
  public Answers(long core, ObjIntConsumer<ByteBuffer> listener) {
    this.core = core;
    this.listener = listener;
  }

  /** What the next call to the core fills. */
  public ByteBuffer buffer() {
    return buffer;
  }

  /** That call answered with so many bytes. */
  public void begin(int bytes) {
    length = bytes;
    at = 0;
    listener.accept(buffer, bytes);
  }

  public boolean hasNext() {
    if (at == length && length > 0) {
      begin(Native.remainingAnswers(core, buffer));
    }
    return at < length;
  }

  /** Where the next answer begins in the buffer; good until hasNext is called. */
  public int next() {
    int here = at;
    at += buffer.getInt(at + 4);
    return here;
  }
}
