package io.hiatus.scheduler.bridge;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A direct buffer of records that grows as needed, up to a limit. Not thread-safe. */
public final class FactBuffer {
  /** In bytes; all that there is to tell of a million containers is about 60 MiB. */
  static final int MOST_BYTES = 1 << 28;

  private final int mostBytes;
  private ByteBuffer bytes;

  public FactBuffer() {
    this(MOST_BYTES);
  }

  public FactBuffer(int mostBytes) {
    this.mostBytes = mostBytes;
    bytes = fresh(Math.min(1 << 16, mostBytes));
  }

  /**
   * Begins a record of that kind and whole length in bytes; the caller puts exactly its fields.
   *
   * @throws IllegalStateException if that is more than the buffer may hold; nothing has changed then
   */
  public ByteBuffer record(int kind, int length) {
    if (bytes.remaining() < length) {
      long needed = (long) bytes.position() + length;
      if (needed > mostBytes) {
        throw new IllegalStateException("more than " + mostBytes + " bytes of facts wait for the core: no step has taken "
            + "them; look in the log for what holds the scheduler up");
      }
      ByteBuffer larger = fresh((int) Math.min(mostBytes, Math.max(2L * bytes.capacity(), needed)));
      bytes.flip();
      larger.put(bytes);
      bytes = larger;
    }
    return bytes.putInt(kind).putInt(length);
  }

  public ByteBuffer bytes() {
    return bytes;
  }

  public int length() {
    return bytes.position();
  }

  public void clear() {
    bytes.clear();
  }

  public static ByteBuffer fresh(int capacity) {
    return ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
  }
}
