package io.hiatus.spark;

import java.util.concurrent.TimeUnit;

/**
 * Knows for how long this process has stood still: a stopped process does not see time pass, and then sees much of it at once. That
 * a machine is busy, or garbage is collected, is below what it counts.
 */
final class Standstill extends Thread {
  private static final long TICK_MS = 200;
  /** Who looks so much later than it wanted to was stopped. */
  private static final long LEAST_MS = 1_000;

  private long lookedNanos = System.nanoTime();
  private long stoodMillis;

  Standstill() {
    super("HiatusStandstill");
    setDaemon(true);
  }

  @Override
  public void run() {
    try {
      while (true) {
        Thread.sleep(TICK_MS);
        look();
      }
    } catch (InterruptedException e) {
      // The executor ends.
    }
  }

  /** For how many milliseconds the process has stood still so far. */
  long look() {
    return look(System.nanoTime());
  }

  /** The same at that time. */
  synchronized long look(long nowNanos) {
    long late = TimeUnit.NANOSECONDS.toMillis(nowNanos - lookedNanos) - TICK_MS;
    lookedNanos = nowNanos;
    stoodMillis += late >= LEAST_MS ? late : 0;
    return stoodMillis;
  }
}
