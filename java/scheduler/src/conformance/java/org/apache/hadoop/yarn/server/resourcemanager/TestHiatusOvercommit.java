package org.apache.hadoop.yarn.server.resourcemanager;

import io.hiatus.scheduler.HiatusScheduler;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.TestCapacitySchedulerOvercommit;

/** Hadoop's tests of a node that shrinks below what runs on it. */
public class TestHiatusOvercommit extends TestCapacitySchedulerOvercommit {
  @Override
  protected Configuration getConfiguration() {
    Configuration conf = super.getConfiguration();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, HiatusScheduler.class, HiatusScheduler.class);
    return conf;
  }
}
