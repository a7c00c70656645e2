package io.hiatus.scheduler;

import java.nio.ByteBuffer;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.annotation.Metrics;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.apache.hadoop.metrics2.lib.MutableGaugeInt;
import org.apache.hadoop.metrics2.lib.MutableGaugeLong;
import org.apache.hadoop.metrics2.lib.MutableStat;

/** What Hiatus did and how it is, for JMX and every metrics sink of Hadoop. */
@Metrics(name = "HiatusMetrics", about = "Hiatus scheduler", context = "yarn")
class HiatusMetrics {
  static final String NAME = "HiatusMetrics";

  private final MetricsRegistry registry = new MetricsRegistry(NAME);
  /** Time of a step in the library, in µs. No quantiles: Hadoop's cost more than the steps of a cluster that is full. */
  final MutableStat stepMicros = registry.newStat("Step", "time of a step", "Ops", "Micros", true);
  /** Time of collecting facts and applying answers around a step, in µs. */
  final MutableStat crossingMicros = registry.newStat("Crossing", "facts and answers around a step", "Ops", "Micros", true);

  @Metric("steps")
  MutableCounterLong steps;
  @Metric("containers placed by Hiatus")
  MutableCounterLong assigned;
  @Metric("containers suspended")
  MutableCounterLong suspended;
  @Metric("containers resumed")
  MutableCounterLong resumed;
  @Metric("containers killed by Hiatus")
  MutableCounterLong killed;
  @Metric("proposals refused")
  MutableCounterLong rejected;
  @Metric("orders of CapacityScheduler's own preemption that were not carried out")
  MutableCounterLong stockPreemptionsRefused;
  @Metric("proposals that mode observe did not carry out")
  MutableCounterLong observed;
  @Metric("suspensions, resumes, kills and refusals left out of the log")
  MutableCounterLong decisionsNotLogged;
  @Metric("containers suspended now")
  MutableGaugeInt suspendedNow;
  @Metric("comparisons of the books that found a difference")
  MutableCounterLong booksDiffer;
  @Metric("times the core was made anew from the ResourceManager's books")
  MutableCounterLong rebuilt;
  @Metric("times that the starvation rule asked long jobs to give way, since the core was made")
  MutableGaugeLong starvationFirings;
  @Metric("claims to room given back unused, since the core was made")
  MutableGaugeLong claimsExpired;
  @Metric("facts that made no sense to the core, since it was made")
  MutableGaugeLong strangeFacts;
  @Metric("run time of containers that Hiatus killed, in ms, since the core was made")
  MutableGaugeLong wastedMillis;
  @Metric("1 if stock CapacityScheduler has taken over because of a fault")
  MutableGaugeInt fallback;

  /**
   * Notes a step, in ns: reading the asks that changed, the library's work on that many bytes of facts, carrying out its
   * answers.
   */
  void stepped(long readNanos, long coreNanos, long applyNanos, int factBytes) {
    steps.incr();
    stepMicros.add(coreNanos / 1000);
    crossingMicros.add((readNanos + applyNanos) / 1000);
  }

  /** Notes what the core counted: a {@link Records.TallyView} at the buffer's beginning. */
  void counted(ByteBuffer tally) {
    starvationFirings.set(Records.TallyView.starvationFirings(tally, 0));
    claimsExpired.set(Records.TallyView.claimsExpired(tally, 0));
    strangeFacts.set(Records.TallyView.strangeFacts(tally, 0));
    wastedMillis.set(Records.TallyView.wastedMs(tally, 0));
  }

  /** Registers with Hadoop's metrics; a second scheduler in one JVM (tests) takes the first one's place. */
  static <M extends HiatusMetrics> M register(M metrics) {
    if (DefaultMetricsSystem.instance().getSource(NAME) != null) {
      DefaultMetricsSystem.instance().unregisterSource(NAME);
    }
    return DefaultMetricsSystem.instance().register(NAME, "Hiatus scheduler", metrics);
  }
}
