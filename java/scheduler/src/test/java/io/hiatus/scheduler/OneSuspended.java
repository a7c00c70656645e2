package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.gauge;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import java.util.Collections;
import org.apache.hadoop.yarn.api.records.ContainerId;

/** For tests that begin with a suspended container. */
public abstract class OneSuspended {
  /** Room for two masters of 256 MiB and four containers of 1 GiB. */
  public static final int NODE_MB = 2 * 256 + 4 * 1024;

  public FakeNode node;
  public FakeApp big;
  public FakeApp small;
  public ContainerId suspended;

  /** One of the big job's four containers on the only node is suspended, and the small job has its room. */
  public final void suspendOne(MockCluster cluster) throws Exception {
    node = cluster.node(NODE_MB, 64);
    big = cluster.run("default");
    small = cluster.run("default");
    big.ask(4, 1024);
    cluster.rounds(5);
    small.ask(1, 1024);
    cluster.rounds(4);
    suspended = Collections.max(big.held());
    assertEquals(1, small.held().size());
    assertEquals(1, gauge("SuspendedNow"));
    assertNull(cluster.difference());
  }
}
