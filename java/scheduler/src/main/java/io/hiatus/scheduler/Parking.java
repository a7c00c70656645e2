package io.hiatus.scheduler;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.Futures;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.SettableFuture;
import org.apache.hadoop.yarn.api.protocolrecords.SignalContainerRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.SignalContainerCommand;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.records.ApplicationStateData;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeSignalContainerEvent;

/**
 * Applications and containers that somebody put aside by hand. The core has what is parked suspended and leaves it so; here the
 * nodes are told to stop it even where nobody needs its room.
 *
 * <p>What is parked of an application stands among its scheduling properties. YARN keeps those in its state store, as it does
 * a changed priority, so that a ResourceManager that comes back, or takes over, knows.
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
    return parked(rmApp(id)).contains(id.toString());
  }

  /** Whether the container is parked by itself. */
  synchronized boolean isParked(ContainerId id) {
    return parked(rmApp(id.getApplicationAttemptId().getApplicationId())).contains(id.toString());
  }

  /** Whether the container is put aside, for whichever of the two reasons. */
  synchronized boolean isParkedWhollyOrByItself(ContainerId id) {
    return isParked(id.getApplicationAttemptId().getApplicationId()) || isParked(id);
  }

  /** The container is over: the next change saves the others. */
  synchronized void forget(ContainerId id) {
    RMApp app = rmApp(id.getApplicationAttemptId().getApplicationId());
    Set<String> all = parked(app);
    if (all.remove(id.toString())) {
      put(app, all);
    }
  }

  private RMApp rmApp(ApplicationId id) {
    return scheduler.getRMContext().getRMApps().get(id);
  }

  private static Set<String> parked(RMApp app) {
    ApplicationSubmissionContext context = app == null ? null : app.getApplicationSubmissionContext();
    String listed = context == null ? "" : context.getApplicationSchedulingPropertiesMap().getOrDefault(PARKED, "");
    return listed.isEmpty() ? new LinkedHashSet<>() : new LinkedHashSet<>(Arrays.asList(listed.split(",")));
  }

  private static void put(RMApp app, Set<String> all) {
    ApplicationSubmissionContext context = app.getApplicationSubmissionContext();
    Map<String, String> properties = new HashMap<>(context.getApplicationSchedulingPropertiesMap());
    properties.put(PARKED, String.join(",", all));
    context.setApplicationSchedulingPropertiesMap(properties);
  }

  /** Whether that was news. */
  private synchronized boolean change(ApplicationId id, String what, boolean parked) {
    RMApp app = rmApp(id);
    if (app == null || app.isAppInCompletedStates() || !scheduler.getSchedulerApplications().containsKey(id)) {
      throw new IllegalArgumentException(id + " does not run");
    }
    Set<String> before = parked(app);
    Set<String> after = parked(app);
    if (!(parked ? after.add(what) : after.remove(what))) {
      return false;
    }
    put(app, after);
    try {
      save(app);
    } catch (IOException e) {
      put(app, before);
      throw new UncheckedIOException(e);
    }
    return true;
  }

  /** As CapacityScheduler saves a changed priority; but a store that was fenced never answers, and must not be waited for. */
  private void save(RMApp app) throws IOException {
    ApplicationStateData data = ApplicationStateData.newInstance(app.getSubmitTime(), app.getStartTime(),
        app.getApplicationSubmissionContext(), app.getUser(), app.getRealUser(), app.getCallerContext());
    data.setApplicationTimeouts(app.getApplicationTimeouts());
    data.setLaunchTime(app.getLaunchTime());
    SettableFuture<Object> saved = SettableFuture.create();
    scheduler.getRMContext().getStateStore().updateApplicationStateSynchronously(data, false, saved);
    try {
      Futures.getDone(saved);
    } catch (ExecutionException | IllegalStateException e) {
      throw new IOException("The state store of the ResourceManager does not keep what is parked", e);
    }
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
      scheduler.getRMContext().getDispatcher().getEventHandler().handle(new RMNodeSignalContainerEvent(
          container.getAllocatedNode(), SignalContainerRequest.newInstance(id, SignalContainerCommand.OUTPUT_THREAD_DUMP)));
    }
  }
}
