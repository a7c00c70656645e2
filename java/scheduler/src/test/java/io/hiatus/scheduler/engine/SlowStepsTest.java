package io.hiatus.scheduler.engine;

import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertThrows;

import io.hiatus.scheduler.bridge.NativeException;
import org.junit.Test;

/** Steps over their budget: a machine that was busy for a moment is no fault, a core that is too slow is. */
public class SlowStepsTest {
  private static final long BUDGET_MS = 1_000;

  private final SlowSteps steps = new SlowSteps();

  private void took(long ms) {
    steps.took(ms, BUDGET_MS);
  }

  @Test
  public void aFewSlowStepsAreNoFault() {
    for (int i = 0; i < 10; i++) {
      took(2_000);
    }
  }

  @Test
  public void oneLongPauseIsNoFault() {
    took(60_000);
    took(2_000);
    took(1);
  }

  @Test
  public void persistentlySlowStepsAre() {
    for (int i = 0; i < 14; i++) {
      took(2_000);
    }
    assertThat(assertThrows(NativeException.class, () -> took(2_000)).getMessage(),
        containsString("15 steps in a row took over 1000 ms, 30000 together"));
  }

  @Test
  public void stepsThatNearlyHangAreOneSooner() {
    took(15_000);
    took(15_000);
    assertThrows(NativeException.class, () -> took(15_000));
  }

  @Test
  public void aStepWithinItsBudgetBeginsANewCount() {
    for (int i = 0; i < 100; i++) {
      took(20_000);
      took(BUDGET_MS);
    }
  }
}
