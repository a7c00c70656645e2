package io.hiatus.scheduler.engine;

import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;

import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.After;
import org.junit.Test;
import org.slf4j.LoggerFactory;

/** Work that does not come to an end. */
public class WatchdogTest {
  private static final long LIMIT_MS = 10_000;

  private final LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(Watchdog.class));
  private long nanos;
  private final Watchdog watchdog = new Watchdog(() -> nanos);

  @After
  public void end() {
    log.stopCapturing();
  }

  private int barks() {
    return log.getOutput().split("HIATUS HANGS", -1).length - 1;
  }

  private void passMs(long ms) {
    nanos += ms * 1_000_000;
    watchdog.look(LIMIT_MS);
  }

  @Test
  public void itIsToldOfOnce() {
    watchdog.during(() -> {
      passMs(LIMIT_MS - 1);
      assertEquals(0, barks());
      passMs(1);
      passMs(LIMIT_MS);
      assertEquals(1, barks());
      assertThat(log.getOutput(), containsString("WatchdogTest.passMs"));
    });
    passMs(LIMIT_MS);
    watchdog.during(() -> passMs(LIMIT_MS));
    assertEquals("another one", 2, barks());
  }

  @Test
  public void workWithinWorkDoesNotHideIt() {
    watchdog.during(() -> {
      for (int i = 0; i < 2; i++) {
        watchdog.during(() -> passMs(LIMIT_MS / 2));
      }
      assertEquals(1, barks());
    });
  }

  @Test
  public void workThatEndsIsFine() {
    for (int i = 0; i < 3; i++) {
      watchdog.during(() -> passMs(LIMIT_MS / 2));
    }
    passMs(LIMIT_MS);
    assertEquals(0, barks());
  }
}
