package io.hiatus.scheduler.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How much is carried out while the scheduler's write lock is held once: so many containers, or what a while is enough for. In
 * a JVM that has just started a container takes ten times as long as later, the very first one many times that.
 */
final class LockBudget {
  /** New, suspended, resumed or killed ones. */
  static final int MOST_CONTAINERS = 500;
  /** That few are carried out at once however long it takes: a heartbeat's worth. */
  static final int LEAST_CONTAINERS = 16;
  /** The core's time counts, too. */
  static final long MOST_MS = 20;

  private final LongSupplier nanos;
  private final long sinceNanos;
  private int containers;

  /** Begins now; {@code nanos} is a monotonic clock. */
  LockBudget(LongSupplier nanos) {
    this.nanos = nanos;
    sinceNanos = nanos.getAsLong();
  }

  void add(int more) {
    containers += more;
  }

  boolean isEmpty() {
    return containers == 0;
  }

  /** Whether others are to get the lock now. */
  boolean isOver() {
    return containers >= MOST_CONTAINERS
        || containers >= LEAST_CONTAINERS && nanos.getAsLong() - sinceNanos >= TimeUnit.MILLISECONDS.toNanos(MOST_MS);
  }
}
