package io.hiatus.scheduler;

import java.util.Map;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.MemoryRMStateStore;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.RMStateStoreEvent;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.records.ApplicationStateData;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.records.impl.pb.ApplicationStateDataPBImpl;

/**
 * A state store in memory that keeps of an application what a real one would write, and not the living object. It has
 * written when it is asked to: a thread of its own would go on after the ResourceManager's events have been drained.
 */
final class FakeStore extends MemoryRMStateStore {
  @Override
  protected EventHandler<RMStateStoreEvent> getRMStateStoreEventHandler() {
    return this::handleStoreEvent;
  }

  @Override
  public synchronized void storeApplicationStateInternal(ApplicationId id, ApplicationStateData data) throws Exception {
    super.storeApplicationStateInternal(id, written(data));
  }

  @Override
  public synchronized void updateApplicationStateInternal(ApplicationId id, ApplicationStateData data) throws Exception {
    super.updateApplicationStateInternal(id, written(data));
  }

  @Override
  public synchronized RMState loadState() throws Exception {
    RMState state = super.loadState();
    for (Map.Entry<ApplicationId, ApplicationStateData> app : state.getApplicationState().entrySet()) {
      app.setValue(written(app.getValue()));
    }
    return state;
  }

  private static ApplicationStateData written(ApplicationStateData data) {
    ApplicationStateData written = new ApplicationStateDataPBImpl(((ApplicationStateDataPBImpl) data).getProto());
    written.attempts.putAll(data.attempts);
    return written;
  }
}
