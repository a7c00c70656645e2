package io.hiatus.scheduler.engine;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.hiatus.scheduler.MockCluster;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.After;
import org.junit.Test;

/** When ticks come. The interval is so long that none comes by itself. */
public class TickerTest {
  private final BlockingQueue<Integer> ticks = new LinkedBlockingQueue<>();
  private volatile int left;
  private final Ticker ticker = new Ticker(TimeUnit.HOURS.toMillis(1), () -> {
    ticks.add(left);
    return --left > 0;
  });

  @After
  public void end() throws InterruptedException {
    ticker.interrupt();
    ticker.join();
  }

  private Integer next() throws InterruptedException {
    return ticks.poll(MockCluster.PATIENCE.getSeconds(), TimeUnit.SECONDS);
  }

  @Test
  public void whoIsWokenGoesOnWhileThereIsMore() throws Exception {
    left = 3;
    ticker.start();
    ticker.wake();
    for (int expected = 3; expected > 0; expected--) {
      assertEquals(Integer.valueOf(expected), next());
    }
    ticker.wake();
    assertEquals("and once more for nothing", Integer.valueOf(0), next());
    assertTrue(ticks.isEmpty());
  }

  @Test
  public void anInterruptEndsIt() throws Exception {
    ticker.start();
    ticker.interrupt();
    ticker.join();
    assertFalse(ticker.isAlive());
    assertTrue(ticks.isEmpty());
  }
}
