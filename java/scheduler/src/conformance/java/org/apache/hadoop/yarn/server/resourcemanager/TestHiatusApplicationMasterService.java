package org.apache.hadoop.yarn.server.resourcemanager;

import io.hiatus.scheduler.HiatusScheduler;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** Hadoop's tests of what ApplicationMasters ask for and get. */
public class TestHiatusApplicationMasterService extends TestApplicationMasterServiceCapacity {
  @Override
  protected YarnConfiguration createYarnConfig() {
    YarnConfiguration conf = super.createYarnConfig();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, HiatusScheduler.class, HiatusScheduler.class);
    return conf;
  }
}
