package io.hiatus.scheduler;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A direct buffer of records that grows as needed. Not thread-safe. */
final class FactBuffer {
  private ByteBuffer bytes = fresh(1 << 16);

  /** Begins a record of that kind and whole length in bytes; the caller puts exactly its fields. */
  ByteBuffer record(int kind, int length) {
    if (bytes.remaining() < length) {
      ByteBuffer larger = fresh(Math.max(2 * bytes.capacity(), bytes.position() + length));
      bytes.flip();
      larger.put(bytes);
      bytes = larger;
    }
    return bytes.putInt(kind).putInt(length);
  }

  ByteBuffer bytes() {
    return bytes;
  }

  int length() {
    return bytes.position();
  }

  void clear() {
    bytes.clear();
  }

  static ByteBuffer fresh(int capacity) {
    return ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
  }
}
