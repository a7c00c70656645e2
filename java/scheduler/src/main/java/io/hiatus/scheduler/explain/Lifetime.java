package io.hiatus.scheduler.explain;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationTimeoutType;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;

/** How long YARN lets an application be there. It runs out by the clock, whatever of the application stands still. */
public final class Lifetime {
  private Lifetime() {
  }

  /** Whole seconds until YARN ends the application, from 0 on; null where that has no such limit, or is gone. */
  public static Long leftS(RMContext rm, String application) {
    // The core calls applications that are gone by numbers.
    RMApp app = application.startsWith(ApplicationId.appIdStrPrefix) ? rm.getRMApps().get(ApplicationId.fromString(application)) : null;
    Long endMs = app == null ? null : app.getApplicationTimeouts().get(ApplicationTimeoutType.LIFETIME);
    return endMs == null ? null : Math.max(0, TimeUnit.MILLISECONDS.toSeconds(endMs - System.currentTimeMillis()));
  }
}
