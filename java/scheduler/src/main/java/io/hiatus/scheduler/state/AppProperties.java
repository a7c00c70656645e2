package io.hiatus.scheduler.state;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.Futures;
import org.apache.hadoop.thirdparty.com.google.common.util.concurrent.SettableFuture;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.records.ApplicationStateData;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;

/**
 * What Hiatus keeps of an application, among its scheduling properties: YARN keeps those in its state store, as it does a
 * changed priority, so that a ResourceManager that comes back, or takes over, knows. Each property is a set of words.
 */
final class AppProperties {
  private AppProperties() {
  }

  /** The words of a property: a copy, empty where there are none. */
  static Set<String> get(RMContext rm, ApplicationId id, String name) {
    ApplicationSubmissionContext context = context(rm.getRMApps().get(id));
    if (context == null) {
      return new LinkedHashSet<>();
    }
    String listed;
    synchronized (context) { // as its own methods are; the map is what they change
      listed = context.getApplicationSchedulingPropertiesMap().getOrDefault(name, "");
    }
    return listed.isEmpty() ? new LinkedHashSet<>() : new LinkedHashSet<>(Arrays.asList(listed.split(",")));
  }

  /** Puts other words in their place; whoever saves the application next saves them. */
  static void put(RMContext rm, ApplicationId id, String name, Set<String> words) {
    ApplicationSubmissionContext context = context(rm.getRMApps().get(id));
    if (context != null) {
      synchronized (context) { // as its own methods are
        Map<String, String> properties = new HashMap<>(context.getApplicationSchedulingPropertiesMap());
        properties.put(name, String.join(",", words));
        context.setApplicationSchedulingPropertiesMap(properties);
      }
    }
  }

  private static ApplicationSubmissionContext context(RMApp app) {
    return app == null ? null : app.getApplicationSubmissionContext();
  }

  /**
   * Saves an application that is not over, as CapacityScheduler saves a changed priority; but a store that was fenced never
   * answers, and must not be waited for.
   */
  static void save(RMContext rm, RMApp app) throws IOException {
    ApplicationStateData data = ApplicationStateData.newInstance(app.getSubmitTime(), app.getStartTime(),
        app.getApplicationSubmissionContext(), app.getUser(), app.getRealUser(), app.getCallerContext());
    data.setApplicationTimeouts(app.getApplicationTimeouts());
    data.setLaunchTime(app.getLaunchTime());
    SettableFuture<Object> saved = SettableFuture.create();
    rm.getStateStore().updateApplicationStateSynchronously(data, false, saved);
    try {
      Futures.getDone(saved);
    } catch (ExecutionException | IllegalStateException e) {
      throw new IOException("The state store of the ResourceManager does not keep what is to be known of "
          + app.getApplicationId(), e);
    }
  }
}
