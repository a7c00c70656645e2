package io.hiatus.scheduler.apply;

import io.hiatus.scheduler.metrics.HiatusMetrics;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What was done to whose containers, in the ResourceManager's log at INFO: so many lines in a while at most, so that a storm of
 * decisions does not drown the rest, and then how many are missing. Not thread-safe: decisions are carried out under the scheduler's lock.
 */
public final class DecisionLog {
  /** Administrators set this logger's level: its name stays, wherever the class is. */
  static final String LOGGER = "io.hiatus.scheduler.DecisionLog";
  /** So many lines at most ... */
  static final int MOST_LINES = 100;
  /** ... in so long, in ms. */
  static final long WHILE_MS = TimeUnit.SECONDS.toMillis(10);

  private static final Logger LOG = LoggerFactory.getLogger(LOGGER);

  private final HiatusMetrics metrics;
  private final LongSupplier nowMs;
  private long begunMs;
  private int lines;
  private int leftOut;
  private final Set<String> refusals = new HashSet<>();

  public DecisionLog(HiatusMetrics metrics) {
    this(metrics, Time::monotonicNow);
  }

  DecisionLog(HiatusMetrics metrics, LongSupplier nowMs) {
    this.metrics = metrics;
    this.nowMs = nowMs;
    begunMs = nowMs.getAsLong();
  }

  /** {@code what} was done to the container of {@code user}, and {@code why}, as far as it is known here. */
  void done(String what, RMContainer container, String user, String why) {
    settle();
    line(what, container, user, why);
  }

  /** It was not done. The core proposes it again until it is, or not wanted any more: that is said once in a while. */
  void refused(String what, RMContainer container, String user, String why) {
    settle();
    if (refusals.add(what + container.getContainerId())) {
      line("Not " + what, container, user, why);
    }
  }

  private void settle() {
    long now = nowMs.getAsLong();
    if (now - begunMs >= WHILE_MS) {
      if (leftOut > 0) {
        LOG.info("{} more decisions were not logged, of {} s", leftOut, TimeUnit.MILLISECONDS.toSeconds(now - begunMs));
      }
      begunMs = now;
      lines = 0;
      leftOut = 0;
      refusals.clear();
    }
  }

  private void line(String what, RMContainer container, String user, String why) {
    if (lines < MOST_LINES) {
      lines++;
      LOG.info("{} {} ({}, {} on {}): {}", what, container.getContainerId(), user, container.getAllocatedResource(),
          container.getAllocatedNode(), why);
    } else {
      leftOut++;
      metrics.decisionsNotLogged.incr();
    }
  }
}
