package io.hiatus.scheduler.engine;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.Test;

/** For how much the scheduler's write lock is held. */
public class PortionTest {
  private long nanos;

  private int containersOf(long eachMs) {
    Portion portion = new Portion(() -> nanos);
    int containers = 0;
    for (; !portion.isOver(); containers++) {
      nanos += TimeUnit.MILLISECONDS.toNanos(eachMs);
      portion.add(1);
    }
    return containers;
  }

  @Test
  public void aWarmJvmIsBoundByTheNumberOfContainers() {
    assertEquals(Portion.MOST_CONTAINERS, containersOf(0));
  }

  @Test
  public void aColdOneByTime() {
    assertEquals(Portion.MOST_MS, containersOf(1));
  }

  @Test
  public void aHeartbeatsWorthIsNeverCut() {
    assertEquals(Portion.LEAST_CONTAINERS, containersOf(1000));
  }

  @Test
  public void whatTookTheCoreLongIsBegunNevertheless() {
    Portion portion = new Portion(() -> nanos);
    nanos += TimeUnit.SECONDS.toNanos(1);
    assertTrue(portion.isEmpty());
    assertFalse(portion.isOver());
  }
}
