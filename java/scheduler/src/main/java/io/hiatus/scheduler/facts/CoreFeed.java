package io.hiatus.scheduler.facts;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The core as those see it who have something to tell it: from any thread, whether it is there or not. Whatever our own work
 * raises where CapacityScheduler calls us ends here, and is kept for {@code Engine}, which has stock take over.
 */
public final class CoreFeed {
  /** What went wrong where the write lock may not have been held. */
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  /** Volatile: who only tells what happens does so from any thread. */
  private volatile FactWriter facts;

  /** The recorder of facts, or null while nobody listens. */
  public FactWriter facts() {
    return failure.get() == null ? facts : null;
  }

  /** Tells the core, if it listens. */
  public void tell(Consumer<FactWriter> telling) {
    FactWriter listening = facts();
    if (listening != null) {
      guard(() -> telling.accept(listening));
    }
  }

  /**
   * Runs our own work wherever CapacityScheduler calls us. Whatever it raises ends here, because it would end the
   * ResourceManager otherwise, and stock takes over: at once or, as the caller may hold any lock, with the next tick. That
   * includes OutOfMemoryError: it may be our own buffers' doing; where it is not, stock's own code will meet it.
   */
  public void guard(Runnable work) {
    try {
      work.run();
    } catch (ThreadDeath e) {
      throw e;
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  /** A core begins that is to be told these; null: one has ended. */
  public void listen(FactWriter toOrNull) {
    facts = toOrNull;
  }

  /** What our own work raised first since that was last cleared, or null. */
  public Throwable failure() {
    return failure.get();
  }

  /** Stock has taken over: what is raised from here on is news. */
  public void clearFailure() {
    failure.set(null);
  }
}
