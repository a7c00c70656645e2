package io.hiatus.scheduler.engine;

import io.hiatus.scheduler.apply.DecisionExecutor;
import io.hiatus.scheduler.bridge.Answers;
import io.hiatus.scheduler.bridge.CoreLog;
import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.facts.SnapshotReporter;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import io.hiatus.scheduler.recording.Recording;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.Time;

/**
 * Takes the steps of one core: facts in, answers carried out. Each time a bounded number of them, so that others get the
 * scheduler's write lock between; what is left is carried out before the core is asked again.
 */
final class Stepper {
  /** Answers lead to facts, and those to more answers; what is not settled by then waits for the next step. */
  private static final int ROUNDS = 16;

  private final SnapshotReporter reporter;
  private final long core;
  private final FactWriter facts;
  private final DecisionExecutor executor;
  private final HiatusMetrics metrics;
  private final Recording recording;
  private final Answers answers;
  private final CoreLog coreLog = new CoreLog();
  private final SlowSteps slowSteps = new SlowSteps();
  private long lastMs;
  /** What the core said of that with its last step. */
  private boolean hasMore;
  /** And whether it has said since that there is news of admission. */
  private boolean admits;
  private long readNanos;
  private long coreNanos;
  private long applyNanos;
  private int factBytes;

  Stepper(SnapshotReporter reporter, long core, FactWriter facts, DecisionExecutor executor, HiatusMetrics metrics, Recording recording) {
    this.reporter = reporter;
    this.core = core;
    this.facts = facts;
    this.executor = executor;
    this.metrics = metrics;
    this.recording = recording;
    this.answers = new Answers(core, recording::answered);
  }

  /** From now on what the library says is passed on, behind steps. */
  void listen() {
    coreLog.listen();
  }

  /** When the core was last asked, on the monotonic clock. */
  long lastMs() {
    return lastMs;
  }

  /** Whether nothing is left of what the core answered last. */
  boolean isSettled() {
    return !answers.hasNext();
  }

  /** Whether the core has news of who is let in, since this was last asked; not before all it has decided is carried out. */
  boolean takeAdmits() {
    boolean news = admits && isSettled();
    admits &= !news;
    return news;
  }

  /**
   * Whether a step now would find nothing to do: the core was asked in this very millisecond, and all that was told since is
   * that nodes live which have room for nobody. Most heartbeats of a large cluster that is full are of that kind.
   */
  boolean isQuiet() {
    return Time.monotonicNow() == lastMs && !hasMore && facts.isQuiet() && isSettled();
  }

  /** Whether a step would find something to do. */
  boolean isDue() {
    return !isSettled() || !facts.isEmpty() || Native.hasMore(core);
  }

  /**
   * A step of bounded length.
   *
   * @return whether another one is worth while at once
   */
  boolean step(boolean observeOnly, long budgetMs) {
    LockBudget budget = new LockBudget(System::nanoTime);
    for (int round = 0; round < ROUNDS && !budget.isOver(); round++) {
      if (isSettled() && !ask(round > 0, budgetMs)) {
        break;
      }
      carryOut(budget, observeOnly);
    }
    return budget.isOver() || !budget.isEmpty() && hasMore;
  }

  /** Returns whether there are answers; without news, if it needs any, the core is not asked. */
  private boolean ask(boolean needsNews, long budgetMs) {
    long begun = System.nanoTime();
    reporter.changes(facts);
    FactBuffer news = facts.take();
    if (needsNews && news.length() == 0) {
      return false;
    }
    coreLog.listen();
    lastMs = Time.monotonicNow();
    recording.stepped(lastMs, news);
    long called = System.nanoTime();
    long stepped = Native.step(core, lastMs, news.bytes(), news.length(), answers.buffer());
    answers.begin((int) stepped);
    hasMore = (stepped & Records.MORE) != 0;
    facts.lends((stepped & Records.LENDS) != 0);
    admits |= (stepped & Records.ADMITS) != 0;
    readNanos = called - begun;
    coreNanos = System.nanoTime() - called;
    if ((stepped & Records.SAID) != 0) {
      coreLog.passOn();
    }
    applyNanos = 0;
    factBytes = news.length();
    if (isSettled()) {
      metrics.stepped(readNanos, coreNanos, applyNanos, factBytes);
    }
    slowSteps.took(TimeUnit.NANOSECONDS.toMillis(coreNanos), budgetMs);
    return !isSettled();
  }

  private void carryOut(LockBudget budget, boolean observeOnly) {
    long begun = System.nanoTime();
    while (!budget.isOver() && answers.hasNext()) {
      budget.add(executor.apply(answers.buffer(), answers.next(), observeOnly));
    }
    applyNanos += System.nanoTime() - begun;
    if (isSettled()) {
      metrics.stepped(readNanos, coreNanos, applyNanos, factBytes);
    }
  }
}
