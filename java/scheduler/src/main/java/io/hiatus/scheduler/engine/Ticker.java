package io.hiatus.scheduler.engine;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Ticks at an interval, and without waiting for it while there is more to do. */
public final class Ticker extends Thread {
  /** Between two ticks others get the lock: who waits for it is not served in its turn. */
  private static final long BREATH_MS = 1;

  private final long intervalMs;
  private final BooleanSupplier tick;
  private final Semaphore wanted = new Semaphore(0);

  /** {@code tick} says whether there is more to do. */
  public Ticker(long intervalMs, BooleanSupplier tick) {
    super("HiatusTicker");
    setDaemon(true);
    this.intervalMs = intervalMs;
    this.tick = tick;
  }

  /** There is more to do: the next tick comes at once. */
  public void wake() {
    wanted.release();
  }

  @Override
  public void run() {
    try {
      boolean more = false;
      while (true) {
        if (more || wanted.tryAcquire(intervalMs, TimeUnit.MILLISECONDS)) {
          Thread.sleep(BREATH_MS);
        }
        wanted.drainPermits();
        more = tick.getAsBoolean();
      }
    } catch (InterruptedException e) {
      // The scheduler stops.
    }
  }
}
