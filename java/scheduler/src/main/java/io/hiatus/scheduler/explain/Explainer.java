package io.hiatus.scheduler.explain;

import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Explanations without the scheduler's lock: while somebody asks every few seconds, steps make one every second; who asks
 * for the first time, or is told something old otherwise, has one made.
 */
public final class Explainer {
  /** Who asked within this time is expected to ask again. */
  private static final long ASKED_MS = 10_000;
  private static final long PAUSE_MS = 1_000;
  /** Older ones are not told; longer than the pause by what a busy scheduler may need. */
  private static final long FRESH_MS = 3_000;

  private static final class Made {
    final NamedExplanation explanation;
    final long ms;

    Made(NamedExplanation explanation, long ms) {
      this.explanation = explanation;
      this.ms = ms;
    }
  }

  private final LongSupplier nowMs;
  private final Supplier<NamedExplanation> maker;
  private volatile long askedMs = Long.MIN_VALUE / 2;
  private volatile Made last;

  /** {@code maker} is called with the scheduler's lock held. */
  public Explainer(LongSupplier nowMs, Supplier<NamedExplanation> maker) {
    this.nowMs = nowMs;
    this.maker = maker;
  }

  /** Makes one if somebody will want it. With the lock held. */
  public void tick() {
    long now = nowMs.getAsLong();
    Made seen = last;
    if (now - askedMs < ASKED_MS && (seen == null || now - seen.ms >= PAUSE_MS)) {
      make();
    }
  }

  /** One from now. With the lock held. */
  public NamedExplanation make() {
    NamedExplanation made = maker.get();
    last = new Made(made, nowMs.getAsLong());
    return made;
  }

  /** Somebody changed something and will want to see it. From any thread. */
  public void forget() {
    last = null;
  }

  /** One from a moment ago, or null if there is none: then one is to be made. From any thread. */
  public NamedExplanation latest() {
    long now = nowMs.getAsLong();
    askedMs = now;
    Made seen = last;
    return seen != null && now - seen.ms < FRESH_MS ? seen.explanation : null;
  }
}
