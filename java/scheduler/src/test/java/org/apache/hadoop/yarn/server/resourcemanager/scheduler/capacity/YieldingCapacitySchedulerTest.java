package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.Assert.assertEquals;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSet;
import org.junit.Test;

/** Threads of asynchronous scheduling cost next to nothing where somebody else places. */
public class YieldingCapacitySchedulerTest {
  private boolean yields;

  @Test
  public void threadsThatOnlyAskDoSoSeldom() {
    YieldingCapacityScheduler scheduler = new YieldingCapacityScheduler() {
      @Override
      protected boolean yields() {
        return yields;
      }

      @Override
      protected boolean mayPlace(CandidateNodeSet<FiCaSchedulerNode> on) {
        return !yields;
      }
    };
    assertEquals("as configured", 7, interval(scheduler, 7));
    yields = true;
    assertEquals(100, interval(scheduler, 7));
    assertEquals("as configured", 2_000, interval(scheduler, 2_000));
  }

  private static long interval(CapacityScheduler scheduler, long configuredMs) {
    CapacitySchedulerConfiguration conf = new CapacitySchedulerConfiguration(new Configuration(false), false);
    conf.setScheduleAynschronously(true);
    conf.setLong("yarn.scheduler.capacity.schedule-asynchronously.scheduling-interval-ms", configuredMs);
    scheduler.setAsyncSchedulingConf(new CapacityScheduler.AsyncSchedulingConfiguration(conf, scheduler));
    return scheduler.getAsyncScheduleInterval();
  }
}
