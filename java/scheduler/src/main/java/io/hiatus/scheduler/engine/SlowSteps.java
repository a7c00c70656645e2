package io.hiatus.scheduler.engine;

import io.hiatus.scheduler.bridge.NativeException;

/** Tells steps that are persistently over their budget from one that the machine held up. */
final class SlowSteps {
  /** So many in a row at least: one or two may be pauses of the JVM. */
  private static final int STEPS = 3;
  /** So many budgets they take together. */
  private static final int BUDGETS = 30;

  private int steps;
  private long tookMs;

  /**
   * Notes a step.
   *
   * @throws NativeException if it is one too many
   */
  void took(long stepMs, long budgetMs) {
    if (stepMs <= budgetMs) {
      steps = 0;
      tookMs = 0;
      return;
    }
    steps++;
    tookMs += stepMs;
    if (steps >= STEPS && tookMs >= BUDGETS * budgetMs) {
      throw new NativeException(steps + " steps in a row took over " + budgetMs + " ms, " + tookMs + " together");
    }
  }
}
