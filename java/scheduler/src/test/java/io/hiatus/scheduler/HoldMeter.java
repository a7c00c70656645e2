package io.hiatus.scheduler;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;

/**
 * The write lock of a scheduler, with a watch on how much CPU time other threads than the one that made it spend while they
 * hold it: Hiatus' ticker, FairScheduler's update. That thread itself times its calls.
 */
final class HoldMeter extends ReentrantReadWriteLock.WriteLock {
  private static final long serialVersionUID = 1L;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final transient Thread player = Thread.currentThread();
  private long begunNanos;
  private long longestNanos;
  private String longestBy = "";

  private HoldMeter(ReentrantReadWriteLock lock) {
    super(lock);
  }

  /** Puts itself in the place of the lock of a scheduler that nobody uses yet. */
  static HoldMeter install(AbstractYarnScheduler<?, ?> scheduler) throws ReflectiveOperationException {
    ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    HoldMeter meter = new HoldMeter(lock);
    set(scheduler, "readLock", lock.readLock());
    set(scheduler, "writeLock", meter);
    return meter;
  }

  private static void set(AbstractYarnScheduler<?, ?> scheduler, String name, Object value)
      throws ReflectiveOperationException {
    Field field = AbstractYarnScheduler.class.getDeclaredField(name);
    field.setAccessible(true);
    field.set(scheduler, value);
  }

  @Override
  public void lock() {
    super.lock();
    if (Thread.currentThread() != player && getHoldCount() == 1) {
      begunNanos = THREADS.getCurrentThreadCpuTime();
    }
  }

  @Override
  public void unlock() {
    if (Thread.currentThread() != player && getHoldCount() == 1) {
      long took = THREADS.getCurrentThreadCpuTime() - begunNanos;
      if (took > longestNanos) {
        longestNanos = took;
        longestBy = Thread.currentThread().getName();
      }
    }
    super.unlock();
  }

  /** Forgets what was. */
  void reset() {
    super.lock();
    longestNanos = 0;
    longestBy = "";
    super.unlock();
  }

  /** CPU time of the longest hold by another thread, in ns. */
  long longestNanos() {
    super.lock();
    try {
      return longestNanos;
    } finally {
      super.unlock();
    }
  }

  /** That thread's name, empty if there was none. */
  String longestBy() {
    super.lock();
    try {
      return longestBy;
    } finally {
      super.unlock();
    }
  }
}
