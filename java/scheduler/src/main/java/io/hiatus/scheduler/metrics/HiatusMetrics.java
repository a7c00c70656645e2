package io.hiatus.scheduler.metrics;

import io.hiatus.scheduler.bridge.Answers;
import io.hiatus.scheduler.bridge.Handles;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.bridge.Rejection;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.annotation.Metrics;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.apache.hadoop.metrics2.lib.MutableGaugeInt;
import org.apache.hadoop.metrics2.lib.MutableGaugeLong;
import org.apache.hadoop.metrics2.lib.MutableStat;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/** What Hiatus did and how it is, for JMX and every metrics sink of Hadoop. */
@Metrics(name = "HiatusMetrics", about = "Hiatus scheduler", context = "yarn")
public class HiatusMetrics extends CommonMetrics {
  public static final String NAME = "HiatusMetrics";

  private final MetricsRegistry registry = new MetricsRegistry(NAME);
  /** The same by queue, as far as it is known of queues. */
  public final QueueMetrics.All queues = new QueueMetrics.All();
  /** Time of a step in the library, in µs. No quantiles: Hadoop's cost more than the steps of a cluster that is full. */
  final MutableStat stepMicros = registry.newStat("Step", "time of a step", "Ops", "Micros", true);
  /** Time of collecting facts and applying answers around a step, in µs. */
  final MutableStat crossingMicros = registry.newStat("Crossing", "facts and answers around a step", "Ops", "Micros", true);

  @Metric("steps")
  MutableCounterLong steps;
  @Metric("proposals refused, but for locality")
  MutableCounterLong rejected;
  @Metric("orders of CapacityScheduler's own preemption that were not carried out")
  public MutableCounterLong stockPreemptionsRefused;
  @Metric("proposals that mode observe did not carry out")
  MutableCounterLong observed;
  @Metric("suspensions, resumes, kills and refusals left out of the log")
  public MutableCounterLong decisionsNotLogged;
  @Metric("containers suspended now")
  public MutableGaugeInt suspendedNow;
  @Metric("comparisons of the books that found a difference")
  public MutableCounterLong booksDiffer;
  @Metric("times the core was made anew from the ResourceManager's books")
  public MutableCounterLong rebuilt;
  @Metric("times that the starvation rule asked long jobs to give way, since the core was made")
  MutableGaugeLong starvationFirings;
  @Metric("claims to room given back unused, since the core was made")
  MutableGaugeLong claimsExpired;
  @Metric("facts that made no sense to the core, since it was made")
  MutableGaugeLong strangeFacts;
  @Metric("run time of containers that Hiatus killed, in ms, since the core was made")
  MutableGaugeLong wastedMillis;
  @Metric("1 if stock CapacityScheduler has taken over because of a fault")
  public MutableGaugeInt fallback;

  /**
   * Notes a step, in ns: reading the asks that changed, the library's work on that many bytes of facts, carrying out its
   * answers.
   */
  public void stepped(long readNanos, long coreNanos, long applyNanos, int factBytes) {
    steps.incr();
    stepMicros.add(coreNanos / 1000);
    crossingMicros.add((readNanos + applyNanos) / 1000);
  }

  /** Notes a container given out. */
  public void assigned(FiCaSchedulerApp to) {
    assigned.incr();
    queues.of(to).assigned.incr();
  }

  /** Notes a container suspended. */
  public void suspended(FiCaSchedulerApp of) {
    suspended.incr();
    queues.of(of).suspended.incr();
  }

  /** Notes a container resumed. */
  public void resumed(FiCaSchedulerApp of) {
    resumed.incr();
    queues.of(of).resumed.incr();
  }

  /** Notes a container killed. */
  public void killed(FiCaSchedulerApp of) {
    killed.incr();
    queues.of(of).killed.incr();
  }

  /** Notes a proposal refused; whose, may not be known any more. */
  public void refused(FiCaSchedulerApp ofOrNull, Rejection rejection) {
    if (rejection == Rejection.OBSERVED) {
      observed.incr();
      return;
    }
    if (rejection != Rejection.LOCALITY) {
      rejected.incr();
    }
    refused(rejection).incr();
    if (ofOrNull != null) {
      queues.of(ofOrNull).refused(rejection).incr();
    }
  }

  /** Notes what the core counted, in all and by queue: a {@link Records.TallyView} and {@link Records.QueueLoad}s. */
  public void counted(Answers told, Handles<String> paths) {
    long[] sums = new long[6];
    Set<String> known = new HashSet<>();
    while (told.hasNext()) {
      int at = told.next();
      ByteBuffer from = told.buffer();
      if (from.getInt(at) == Records.TallyView.KIND) {
        counted(from, at);
      } else {
        String path = paths.thing(Records.QueueLoad.queue(from, at));
        if (path != null) {
          known.add(path);
          queues.loaded(path, from, at);
        }
        sums[0] += Records.QueueLoad.jobs(from, at);
        sums[1] += Records.QueueLoad.running(from, at);
        sums[2] += Records.QueueLoad.pending(from, at);
        sums[3] += Records.QueueLoad.pendingMb(from, at);
        sums[4] += Records.QueueLoad.suspendedMb(from, at);
        sums[5] += Records.QueueLoad.suspendedMs(from, at);
      }
    }
    MutableGaugeLong[] gauges = {jobs, running, pending, pendingMB, suspendedMB, suspendedMillis};
    for (int i = 0; i < gauges.length; i++) {
      gauges[i].set(sums[i]);
    }
    queues.retain(known);
  }

  private void counted(ByteBuffer from, int at) {
    starvationFirings.set(Records.TallyView.starvationFirings(from, at));
    claimsExpired.set(Records.TallyView.claimsExpired(from, at));
    strangeFacts.set(Records.TallyView.strangeFacts(from, at));
    wastedMillis.set(Records.TallyView.wastedMs(from, at));
    estimates.set(Records.TallyView.estimates(from, at));
    estimateOff.set((float) Records.TallyView.estimateOff(from, at));
  }

  @Override
  public void ended() {
    super.ended();
    queues.ended();
  }

  /** Registers with Hadoop's metrics; a second scheduler in one JVM (tests) takes the first one's place. */
  public static <M extends HiatusMetrics> M register(M metrics) {
    return replace(NAME, "Hiatus scheduler", metrics);
  }

  /** Registers a source in the place of the one of that name, if there is one. */
  public static <S> S replace(String name, String about, S source) {
    if (DefaultMetricsSystem.instance().getSource(name) != null) {
      DefaultMetricsSystem.instance().unregisterSource(name);
    }
    return DefaultMetricsSystem.instance().register(name, about, source);
  }
}
