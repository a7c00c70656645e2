package io.hiatus.scheduler;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
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
 * a changed priority, so that a ResourceManager that comes back, or takes over, knows. Under the scheduler's write lock.
 */
final class Parking {
  /** The property: ids of the application, if all of it is parked, and of containers that are by themselves. */
  private static final String PARKED = "hiatus.parked";

  private final HiatusScheduler scheduler;

  Parking(HiatusScheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Puts all of an application aside but its master, or takes up what is not parked by itself. */
  void park(ApplicationId id, boolean parked, Facts facts) {
    change(id, id.toString(), parked);
    facts.appParked(id, parked);
    holdSuspended(facts);
  }

  /** The same for one container. */
  void park(ContainerId id, boolean parked, Facts facts) {
    change(id.getApplicationAttemptId().getApplicationId(), id.toString(), parked);
    facts.containerParked(id, parked);
    holdSuspended(facts);
  }

  /** Whether all of the application is parked. */
  boolean isParked(ApplicationId id) {
    return parked(scheduler.getRMContext().getRMApps().get(id)).contains(id.toString());
  }

  /** Whether the container is parked by itself. */
  boolean isParked(ContainerId id) {
    ApplicationId app = id.getApplicationAttemptId().getApplicationId();
    return parked(scheduler.getRMContext().getRMApps().get(app)).contains(id.toString());
  }

  private static Set<String> parked(RMApp app) {
    String listed = app == null ? "" : app.getApplicationSubmissionContext().getApplicationSchedulingPropertiesMap()
        .getOrDefault(PARKED, "");
    return listed.isEmpty() ? new LinkedHashSet<>() : new LinkedHashSet<>(Arrays.asList(listed.split(",")));
  }

  private void change(ApplicationId id, String what, boolean parked) {
    RMApp app = scheduler.getRMContext().getRMApps().get(id);
    Set<String> all = parked(app);
    if (app == null || !(parked ? all.add(what) : all.remove(what))) {
      return;
    }
    ApplicationSubmissionContext context = app.getApplicationSubmissionContext();
    Map<String, String> before = new HashMap<>(context.getApplicationSchedulingPropertiesMap());
    Map<String, String> after = new HashMap<>(before);
    after.put(PARKED, String.join(",", all));
    context.setApplicationSchedulingPropertiesMap(after);
    try {
      save(app);
    } catch (IOException e) {
      context.setApplicationSchedulingPropertiesMap(before);
      throw new UncheckedIOException(e);
    }
  }

  /** As CapacityScheduler saves a changed priority. */
  private void save(RMApp app) throws IOException {
    ApplicationStateData data = ApplicationStateData.newInstance(app.getSubmitTime(), app.getStartTime(),
        app.getApplicationSubmissionContext(), app.getUser(), app.getRealUser(), app.getCallerContext());
    data.setApplicationTimeouts(app.getApplicationTimeouts());
    data.setLaunchTime(app.getLaunchTime());
    SettableFuture<Object> saved = SettableFuture.create();
    scheduler.getRMContext().getStateStore().updateApplicationStateSynchronously(data, false, saved);
    try {
      saved.get();
    } catch (ExecutionException e) {
      throw new IOException("The state store of the ResourceManager did not keep what is parked: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
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
    if (isParked(id.getApplicationAttemptId().getApplicationId()) || isParked(id)) {
      scheduler.getRMContext().getDispatcher().getEventHandler().handle(new RMNodeSignalContainerEvent(
          container.getAllocatedNode(), SignalContainerRequest.newInstance(id, SignalContainerCommand.OUTPUT_THREAD_DUMP)));
    }
  }
}
