package io.hiatus.scheduler;

import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * Takes back what Hiatus demoted while stock places: in the modes off and observe, after a fault, without the native library.
 * At a node's heartbeats what is suspended there is promoted as far as there is room, longest first and before anything new.
 * Under the scheduler's write lock, but where it says otherwise.
 */
final class Drainer {
  private final HiatusScheduler scheduler;
  private final Demotions demotions;
  private final ContainerControl control;
  private final DecisionLog log;
  private long killAfterMs;
  /** Since when stock has placed, or null while Hiatus does. */
  private Long sinceMs;

  Drainer(HiatusScheduler scheduler, Demotions demotions, ContainerControl control, DecisionLog log) {
    this.scheduler = scheduler;
    this.demotions = demotions;
    this.control = control;
    this.log = log;
  }

  /** Puts a configuration in force. */
  void configure(HiatusConfiguration conf) {
    killAfterMs = conf.drainKillMs();
  }

  /** Whether there is anything to take back, anywhere. From any thread. */
  boolean isNeeded() {
    return demotions.count() > 0;
  }

  /** Hiatus places: what is suspended is its core's affair. */
  void rest() {
    sinceMs = null;
  }

  /** Takes back what it can at one node. */
  void drain(FiCaSchedulerNode node) {
    if (sinceMs == null) {
      sinceMs = Time.monotonicNow();
    }
    for (ContainerId id : demotions.on(node.getNodeID())) {
      RMContainer container = scheduler.getRMContainer(id);
      FiCaSchedulerApp attempt = scheduler.getCurrentAttemptForContainer(id);
      if (container == null || attempt == null) {
        demotions.forget(id);
      } else if (!attempt.isStopped()) {
        try {
          drain(attempt, container);
        } catch (RuntimeException e) {
          log.refused("resumed", container, attempt.getUser(), "CapacityScheduler fails over it: " + e);
        }
      }
    }
  }

  private void drain(FiCaSchedulerApp attempt, RMContainer container) {
    if (control.promote(attempt, container) == null) {
      log.done("Resumed", container, attempt.getUser(), "it has room, and Hiatus does not place");
    } else if (killAfterMs > 0 && Time.monotonicNow() - sinceMs >= killAfterMs && control.kill(attempt, container) == null) {
      log.done("Killed", container, attempt.getUser(),
          "because there was no room for it in " + killAfterMs + " ms, and Hiatus does not place");
    }
  }
}
