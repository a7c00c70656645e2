package io.hiatus.scheduler.apply;

import io.hiatus.scheduler.cluster.ClusterView;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.state.Demotions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * Takes back what Hiatus demoted while stock places: in the modes off and observe, after a fault, without the native library.
 * At a node's heartbeats what is suspended there is promoted as far as there is room, longest first and before anything new.
 * Under the scheduler's write lock, but where it says otherwise.
 */
public final class Drainer {
  private final ClusterView cluster;
  private final Demotions demotions;
  private final ContainerControl control;
  private final DecisionLog log;
  private long killAfterMs;
  /** Where and since when stock has placed; nowhere while Hiatus does. */
  private final Map<NodeId, Drained> drained = new HashMap<>();

  /** Since when a node has been looked at, by the JVM's clock; one that comes back is another. */
  private static final class Drained {
    final FiCaSchedulerNode node;
    final long sinceMs = Time.monotonicNow();

    Drained(FiCaSchedulerNode node) {
      this.node = node;
    }
  }

  public Drainer(ClusterView cluster, Demotions demotions, ContainerControl control, DecisionLog log) {
    this.cluster = cluster;
    this.demotions = demotions;
    this.control = control;
    this.log = log;
  }

  /** Puts a configuration in force. */
  public void configure(HiatusConfiguration conf) {
    killAfterMs = conf.drainKillMs();
  }

  /** Whether there is anything to take back, anywhere. From any thread. */
  public boolean isNeeded() {
    return demotions.count() > 0;
  }

  /** Hiatus places, and what is suspended is its core's affair: nothing is taken back until stock places again. */
  public void reset() {
    drained.clear();
  }

  /** Takes back what it can at one node. */
  public void drain(FiCaSchedulerNode node) {
    List<ContainerId> suspended = demotions.on(node.getNodeID());
    if (suspended.isEmpty()) {
      return;
    }
    long sinceMs = drained.compute(node.getNodeID(),
        (any, before) -> before != null && before.node == node ? before : new Drained(node)).sinceMs;
    for (ContainerId id : suspended) {
      RMContainer container = cluster.getRMContainer(id);
      FiCaSchedulerApp attempt = cluster.getCurrentAttemptForContainer(id);
      if (container == null || attempt == null) {
        demotions.forget(id);
      } else if (!attempt.isStopped()) {
        try {
          drain(attempt, container, sinceMs);
        } catch (RuntimeException e) {
          log.refused("resumed", container, attempt.getUser(), "CapacityScheduler fails over it: " + e);
        }
      }
    }
  }

  private void drain(FiCaSchedulerApp attempt, RMContainer container, long sinceMs) {
    if (control.promote(attempt, container) == null) {
      log.done("Resumed", container, attempt.getUser(), "it has room, and Hiatus does not place");
    } else if (killAfterMs > 0 && Time.monotonicNow() - sinceMs >= killAfterMs && control.kill(attempt, container) == null) {
      log.done("Killed", container, attempt.getUser(),
          "because there was no room for it in " + killAfterMs + " ms, and Hiatus does not place");
    }
  }
}
