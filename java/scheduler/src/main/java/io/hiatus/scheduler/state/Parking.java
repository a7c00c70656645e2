package io.hiatus.scheduler.state;

import io.hiatus.scheduler.cluster.ClusterView;
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
public final class Parking {
  /** The property: ids of the application, if all of it is parked, and of containers that are by themselves. */
  private static final String PARKED = "hiatus.parked";

  private final ClusterView cluster;
  private final Demotions demotions;

  public Parking(ClusterView cluster, Demotions demotions) {
    this.cluster = cluster;
    this.demotions = demotions;
  }

  /**
   * Puts all of an application aside but its master, or takes up what is not parked by itself. Under the scheduler's write lock.
   *
   * @return whether that was news
   * @throws IllegalArgumentException if it is over, or the scheduler does not have it yet
   * @throws UncheckedIOException if the state store does not keep it; nothing has changed then
   */
  public boolean park(ApplicationId id, boolean parked) {
    return change(id, id.toString(), parked);
  }

  /** The same for one container. */
  public boolean park(ContainerId id, boolean parked) {
    return change(id.getApplicationAttemptId().getApplicationId(), id.toString(), parked);
  }

  /** Whether all of the application is parked. */
  public synchronized boolean isParked(ApplicationId id) {
    return parked(id).contains(id.toString());
  }

  /** Whether the container is parked by itself. */
  public synchronized boolean isParked(ContainerId id) {
    return parked(id.getApplicationAttemptId().getApplicationId()).contains(id.toString());
  }

  /** Whether the container is put aside, for whichever of the two reasons. */
  synchronized boolean isParkedWhollyOrByItself(ContainerId id) {
    return isParked(id.getApplicationAttemptId().getApplicationId()) || isParked(id);
  }

  /** The container is over: the next change saves the others. */
  public synchronized void forget(ContainerId id) {
    ApplicationId app = id.getApplicationAttemptId().getApplicationId();
    Set<String> all = parked(app);
    if (!all.isEmpty() && all.remove(id.toString())) {
      put(app, all);
    }
  }

  private Set<String> parked(ApplicationId app) {
    return AppProperties.get(cluster.getRMContext(), app, PARKED);
  }

  private void put(ApplicationId app, Set<String> all) {
    AppProperties.put(cluster.getRMContext(), app, PARKED, all);
  }

  private synchronized boolean change(ApplicationId id, String what, boolean parked) {
    RMApp app = cluster.getRMContext().getRMApps().get(id);
    if (app == null || app.isAppInCompletedStates() || !cluster.getSchedulerApplications().containsKey(id)) {
      throw new IllegalArgumentException(id + " does not run");
    }
    Set<String> before = parked(id);
    Set<String> after = parked(id);
    if (!(parked ? after.add(what) : after.remove(what))) {
      return false;
    }
    put(id, after);
    try {
      AppProperties.save(cluster.getRMContext(), app);
    } catch (IOException e) {
      put(id, before);
      throw new UncheckedIOException(e);
    }
    return true;
  }

  /**
   * Has the node stop a demoted container, until it is promoted, if it is parked. The signal is YARN's own and reaches the
   * node behind the demotion; what it means there is said in HiatusContainersLauncher.
   */
  @SuppressWarnings("unchecked") // the dispatcher's handler is not typed
  public void holdIfParked(RMContainer container) {
    ContainerId id = container.getContainerId();
    if (isParkedWhollyOrByItself(id)) {
      demotions.lendsNoMore(id);
      cluster.getRMContext().getDispatcher().getEventHandler().handle(new RMNodeSignalContainerEvent(
          container.getAllocatedNode(), SignalContainerRequest.newInstance(id, SignalContainerCommand.OUTPUT_THREAD_DUMP)));
    }
  }
}
