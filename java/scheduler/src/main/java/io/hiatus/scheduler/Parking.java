package io.hiatus.scheduler;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Set;
import org.apache.hadoop.yarn.api.protocolrecords.SignalContainerRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.SignalContainerCommand;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeSignalContainerEvent;

/**
 * Applications and containers that somebody put aside by hand. The core has what is parked suspended and leaves it so; here the
 * nodes are told to stop it even where nobody needs its room.
 */
final class Parking {
  /** The property: ids of the application, if all of it is parked, and of containers that are by themselves. */
  private static final String PARKED = "hiatus.parked";

  private final HiatusScheduler scheduler;

  Parking(HiatusScheduler scheduler) {
    this.scheduler = scheduler;
  }

  /**
   * Puts all of an application aside but its master, or takes up what is not parked by itself. Under the scheduler's write lock.
   *
   * @throws IllegalArgumentException if it is over, or the scheduler does not have it yet
   * @throws UncheckedIOException if the state store does not keep it; nothing has changed then
   */
  void park(ApplicationId id, boolean parked, Facts facts) {
    if (change(id, id.toString(), parked)) {
      facts.appParked(id, parked);
      holdSuspended(id, facts);
    }
  }

  /** The same for one container. */
  void park(ContainerId id, boolean parked, Facts facts) {
    ApplicationId app = id.getApplicationAttemptId().getApplicationId();
    if (change(app, id.toString(), parked)) {
      facts.containerParked(id, parked);
      holdSuspended(app, facts);
    }
  }

  /** Whether all of the application is parked. */
  synchronized boolean isParked(ApplicationId id) {
    return parked(id).contains(id.toString());
  }

  /** Whether the container is parked by itself. */
  synchronized boolean isParked(ContainerId id) {
    return parked(id.getApplicationAttemptId().getApplicationId()).contains(id.toString());
  }

  /** Whether the container is put aside, for whichever of the two reasons. */
  synchronized boolean isParkedWhollyOrByItself(ContainerId id) {
    return isParked(id.getApplicationAttemptId().getApplicationId()) || isParked(id);
  }

  /** The container is over: the next change saves the others. */
  synchronized void forget(ContainerId id) {
    ApplicationId app = id.getApplicationAttemptId().getApplicationId();
    Set<String> all = parked(app);
    if (!all.isEmpty() && all.remove(id.toString())) {
      put(app, all);
    }
  }

  private Set<String> parked(ApplicationId app) {
    return AppProperties.get(scheduler.getRMContext(), app, PARKED);
  }

  private void put(ApplicationId app, Set<String> all) {
    AppProperties.put(scheduler.getRMContext(), app, PARKED, all);
  }

  /** Whether that was news. */
  private synchronized boolean change(ApplicationId id, String what, boolean parked) {
    RMApp app = scheduler.getRMContext().getRMApps().get(id);
    if (app == null || app.isAppInCompletedStates() || !scheduler.getSchedulerApplications().containsKey(id)) {
      throw new IllegalArgumentException(id + " does not run");
    }
    Set<String> before = parked(id);
    Set<String> after = parked(id);
    if (!(parked ? after.add(what) : after.remove(what))) {
      return false;
    }
    put(id, after);
    try {
      AppProperties.save(scheduler.getRMContext(), app);
    } catch (IOException e) {
      put(id, before);
      throw new UncheckedIOException(e);
    }
    return true;
  }

  /** A suspended container runs on until its room is needed; a parked one must not. */
  private void holdSuspended(ApplicationId app, Facts facts) {
    for (ContainerId id : facts.suspended()) {
      RMContainer container = scheduler.getRMContainer(id);
      if (container != null && id.getApplicationAttemptId().getApplicationId().equals(app)) {
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
    if (isParkedWhollyOrByItself(id)) {
      scheduler.demotions().lendsNoMore(id);
      scheduler.getRMContext().getDispatcher().getEventHandler().handle(new RMNodeSignalContainerEvent(
          container.getAllocatedNode(), SignalContainerRequest.newInstance(id, SignalContainerCommand.OUTPUT_THREAD_DUMP)));
    }
  }
}
