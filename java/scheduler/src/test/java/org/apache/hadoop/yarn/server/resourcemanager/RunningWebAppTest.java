package org.apache.hadoop.yarn.server.resourcemanager;

import static org.junit.Assert.assertNull;

import org.junit.Test;

/** Hadoop's own TestNMReconnect starts a scheduler that belongs to no ResourceManager. */
public class RunningWebAppTest {
  @Test
  public void whereThereIsNoResourceManagerThereIsNoPage() {
    assertNull(RunningWebApp.of(null));
  }
}
