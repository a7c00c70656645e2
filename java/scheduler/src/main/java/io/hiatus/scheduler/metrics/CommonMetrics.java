package io.hiatus.scheduler.metrics;

import io.hiatus.scheduler.bridge.Rejection;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.apache.hadoop.metrics2.lib.MutableGaugeFloat;
import org.apache.hadoop.metrics2.lib.MutableGaugeLong;

/** What is measured of the whole cluster, and of each queue. */
abstract class CommonMetrics {
  @Metric("applications that are not over")
  MutableGaugeLong jobs;
  @Metric("containers that count, ApplicationMasters among them")
  MutableGaugeLong running;
  @Metric("containers wanted")
  MutableGaugeLong pending;
  @Metric("memory of the containers wanted, in MiB")
  MutableGaugeLong pendingMB;
  @Metric("memory that suspended containers keep, in MiB")
  MutableGaugeLong suspendedMB;
  @Metric("time for which containers have been suspended, together, in ms, since the core was made")
  MutableGaugeLong suspendedMillis;
  @Metric("phases that ended lately and had been estimated")
  MutableGaugeLong estimates;
  @Metric("by which factor their estimates were off, on average: 1 is exact, or nothing is known")
  MutableGaugeFloat estimateOff;
  @Metric("containers placed by Hiatus")
  MutableCounterLong assigned;
  @Metric("containers suspended")
  MutableCounterLong suspended;
  @Metric("containers resumed")
  MutableCounterLong resumed;
  @Metric("containers killed by Hiatus")
  MutableCounterLong killed;
  @Metric("proposals refused because a job waits for a better place")
  MutableCounterLong refusedForLocality;
  @Metric("proposals refused by a limit")
  MutableCounterLong refusedByLimit;
  @Metric("proposals refused for want of room")
  MutableCounterLong refusedForRoom;
  @Metric("proposals refused because what they were about was gone")
  MutableCounterLong refusedAsGone;

  /** The counter of proposals refused for that reason; what is only observed has none. */
  final MutableCounterLong refused(Rejection rejection) {
    switch (rejection) {
      case LOCALITY:
        return refusedForLocality;
      case LIMIT:
        return refusedByLimit;
      case ROOM:
        return refusedForRoom;
      default:
        return refusedAsGone;
    }
  }

  /** There is no core any more that holds or wants anything. */
  void ended() {
    for (MutableGaugeLong gauge : new MutableGaugeLong[] {jobs, running, pending, pendingMB, suspendedMB}) {
      gauge.set(0);
    }
  }
}
