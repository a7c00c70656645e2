package io.hiatus.scheduler;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.api.protocolrecords.SignalContainerRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.SignalContainerCommand;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeSignalContainerEvent;

/**
 * Applications and containers that somebody put aside by hand, for as long as this scheduler lives. The core has what is
 * parked suspended and leaves it so; here the nodes are told to stop it even where nobody needs its room.
 */
final class Parking {
  private final HiatusScheduler scheduler;
  private final Set<ApplicationId> apps = ConcurrentHashMap.newKeySet();
  private final Set<ContainerId> containers = ConcurrentHashMap.newKeySet();

  Parking(HiatusScheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Puts all of an application aside but its master, or takes up what is not parked by itself. */
  void park(ApplicationId id, boolean parked, Facts facts) {
    if (parked ? apps.add(id) : apps.remove(id)) {
      facts.appParked(id, parked);
      holdSuspended(facts);
    }
  }

  /** The same for one container. */
  void park(ContainerId id, boolean parked, Facts facts) {
    if (parked ? containers.add(id) : containers.remove(id)) {
      facts.containerParked(id, parked);
      holdSuspended(facts);
    }
  }

  /** Tells a new core what is parked. */
  void tell(Facts facts) {
    apps.forEach(id -> facts.appParked(id, true));
    containers.forEach(id -> facts.containerParked(id, true));
  }

  /** A suspended container runs on until its room is needed; a parked one must not. */
  private void holdSuspended(Facts facts) {
    for (ContainerId id : facts.suspended()) {
      RMContainer container = scheduler.getRMContainer(id);
      if (container != null) {
        holdIfParked(container);
      }
    }
  }

  /**
   * Has the node stop a demoted container, until it is promoted, if it is parked. The signal is YARN's own and reaches the
   * node behind the demotion; what it means there is said in HiatusContainersLauncher.
   */
  @SuppressWarnings("unchecked") // the dispatcher's handler is not typed
  void holdIfParked(RMContainer container) {
    ContainerId id = container.getContainerId();
    if (apps.contains(id.getApplicationAttemptId().getApplicationId()) || containers.contains(id)) {
      scheduler.getRMContext().getDispatcher().getEventHandler().handle(new RMNodeSignalContainerEvent(
          container.getAllocatedNode(), SignalContainerRequest.newInstance(id, SignalContainerCommand.OUTPUT_THREAD_DUMP)));
    }
  }

  void forget(ApplicationId id) {
    apps.remove(id);
  }

  void forget(ContainerId id) {
    containers.remove(id);
  }
}
