package io.hiatus.scheduler;

import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** {@code ConformanceRunner CLASS}: runs the tests of a class, with a line for each: PASS or FAIL, its name, and why it failed. */
public final class ConformanceRunner {
  private static final class Teller extends RunListener {
    private Failure failure;

    @Override
    public void testStarted(Description test) {
      failure = null;
    }

    @Override
    public void testFailure(Failure found) {
      failure = found;
      found.getException().printStackTrace();
      if (!found.getDescription().isTest()) {
        tell(found.getDescription()); // the class itself: of its tests there are none
      }
    }

    @Override
    public void testFinished(Description test) {
      tell(test);
    }

    private void tell(Description test) {
      String why = failure == null ? "" : "\t" + String.valueOf(failure.getException()).replaceAll("\\s+", " ");
      System.out.println((failure == null ? "PASS\t" : "FAIL\t") + test.getMethodName() + why);
    }
  }

  private ConformanceRunner() {
  }

  public static void main(String[] args) throws ClassNotFoundException {
    JUnitCore core = new JUnitCore();
    core.addListener(new Teller());
    boolean successful = core.run(Class.forName(args[0])).wasSuccessful();
    System.out.flush();
    System.exit(successful ? 0 : 1); // the daemons under test leave threads behind
  }
}
