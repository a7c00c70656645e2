package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.gauge;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import java.util.concurrent.Callable;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;

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
    suspendOne(cluster, () -> cluster.submit("default", "user"), () -> cluster.submit("default", "user"));
  }

  /** The same with jobs that are submitted in some other way. */
  public final void suspendOne(MockCluster cluster, Callable<FakeApp> submitsBig, Callable<FakeApp> submitsSmall) throws Exception {
    node = cluster.node(NODE_MB, 64);
    big = cluster.started(submitsBig.call());
    small = cluster.started(submitsSmall.call());
    big.ask(4, 1024);
    cluster.rounds(5);
    small.ask(1, 1024);
    cluster.rounds(4);
    suspended = Collections.max(big.held());
    assertEquals(1, small.held().size());
    assertEquals(1, gauge("SuspendedNow"));
    assertNull(cluster.difference());
  }

  /** The small job ends, what was suspended goes on, and the big job ends, too. */
  public final void bothEnd(MockCluster cluster) throws Exception {
    assertTrue("nothing was lost", big.held().contains(suspended));
    small.finish();
    cluster.rounds(4);
    assertEquals("it goes on", ExecutionType.GUARANTEED, cluster.container(suspended).getExecutionType());
    assertFalse(node.isDemoted(suspended));
    big.finish();
    assertEquals(0, cluster.scheduler().demotions().count());
    assertNull(cluster.difference());
  }
}
