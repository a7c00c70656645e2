package io.hiatus.scheduler.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices work under the scheduler's write lock that does not come to an end, and says so once, with the stack of whoever
 * does it. It can do no more: nobody can take a held lock away.
 */
final class Watchdog {
  private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);

  private static final class Work {
    final Thread who = Thread.currentThread();
    final long sinceNanos;

    Work(long sinceNanos) {
      this.sinceNanos = sinceNanos;
    }
  }

  private final LongSupplier nanos;
  private volatile Work work;
  private Work told;

  /** {@code nanos} is a monotonic clock. */
  Watchdog(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** Runs that in this thread, which holds the lock. */
  void during(Runnable what) {
    Work outer = work;
    if (outer == null) {
      work = new Work(nanos.getAsLong());
    }
    try {
      what.run();
    } finally {
      work = outer;
    }
  }

  /** Looks once, from a thread that needs no lock. */
  void look(long limitMs) {
    Work seen = work;
    if (seen == null || seen == told) {
      return;
    }
    long tookMs = TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - seen.sinceNanos);
    if (tookMs < limitMs) {
      return;
    }
    told = seen;
    StringBuilder stack = new StringBuilder();
    for (StackTraceElement frame : seen.who.getStackTrace()) {
      stack.append("\n\tat ").append(frame);
    }
    LOG.error("HIATUS HANGS: thread {} has held the scheduler's lock for {} ms. Nothing is scheduled meanwhile, and stock "
        + "cannot take over; if it does not come back, restart or fail over this ResourceManager, with "
        + "yarn.scheduler.hiatus.mode = off until the cause is mended.{}", seen.who.getName(), tookMs, stack);
  }
}
