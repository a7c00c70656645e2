package io.hiatus.scheduler.engine;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.Test;

/** For how much the scheduler's write lock is held. */
public class LockBudgetTest {
  private long nanos;

  private int containersOf(long eachMs) {
    LockBudget budget = new LockBudget(() -> nanos);
    int containers = 0;
    for (; !budget.isOver(); containers++) {
      nanos += TimeUnit.MILLISECONDS.toNanos(eachMs);
      budget.add(1);
    }
    return containers;
  }

  @Test
  public void aWarmJvmIsBoundByTheNumberOfContainers() {
    assertEquals(LockBudget.MOST_CONTAINERS, containersOf(0));
  }

  @Test
  public void aColdOneByTime() {
    assertEquals(LockBudget.MOST_MS, containersOf(1));
  }

  @Test
  public void aHeartbeatsWorthIsNeverCut() {
    assertEquals(LockBudget.LEAST_CONTAINERS, containersOf(1000));
  }

  @Test
  public void whatTookTheCoreLongIsBegunNevertheless() {
    LockBudget budget = new LockBudget(() -> nanos);
    nanos += TimeUnit.SECONDS.toNanos(1);
    assertTrue(budget.isEmpty());
    assertFalse(budget.isOver());
  }
}
