package io.hiatus.spark;

import static org.junit.Assert.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.Test;

/** A process that was stopped sees that by the clock. */
public class StandstillTest {
  @Test
  public void timeThatNobodySawIsTimeInWhichItStoodStill() {
    Standstill clock = new Standstill();
    long nowNanos = System.nanoTime();
    long stood = clock.look(nowNanos);
    nowNanos += TimeUnit.MILLISECONDS.toNanos(1_100); // a busy machine
    assertEquals(stood, clock.look(nowNanos));
    nowNanos += TimeUnit.MILLISECONDS.toNanos(30_200);
    assertEquals(stood + 30_000, clock.look(nowNanos));
    nowNanos += TimeUnit.MILLISECONDS.toNanos(200);
    assertEquals(stood + 30_000, clock.look(nowNanos));
  }
}
