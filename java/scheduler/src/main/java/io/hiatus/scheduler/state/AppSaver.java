package io.hiatus.scheduler.state;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Saves applications whose properties changed, in a thread of its own: once for all that changed while the store was busy. */
public final class AppSaver extends Thread {
  private static final Logger LOG = LoggerFactory.getLogger(AppSaver.class);

  /** Behind what is waiting: then there is nothing more. */
  private static final ApplicationId END = ApplicationId.newInstance(0, 0);

  private final RMContext rm;
  private final BlockingQueue<ApplicationId> queue = new LinkedBlockingQueue<>();
  private final Set<ApplicationId> waiting = ConcurrentHashMap.newKeySet();

  AppSaver(RMContext rm) {
    super("HiatusAppSaver");
    setDaemon(true);
    this.rm = rm;
  }

  /** The application is to be saved; from any thread, at once. */
  void changed(ApplicationId app) {
    if (waiting.add(app)) {
      queue.add(app);
    }
  }

  /** Ends when all that is waiting has been saved: who is active next is to know it. */
  public void end() {
    queue.add(END);
  }

  @Override
  public void run() {
    try {
      for (ApplicationId id = queue.take(); !id.equals(END); id = queue.take()) {
        waiting.remove(id); // what changes from here on is saved once more
        RMApp app = rm.getRMApps().get(id);
        if (app != null && !app.isAppInCompletedStates()) {
          save(app);
        }
      }
    } catch (InterruptedException e) {
      // The scheduler stops, and the store is too slow to be waited for.
    }
  }

  private void save(RMApp app) {
    try {
      AppProperties.save(rm, app);
    } catch (IOException | RuntimeException e) {
      LOG.warn("After a restart it will not be known which containers of {} Hiatus suspended", app.getApplicationId(), e);
    }
  }
}
