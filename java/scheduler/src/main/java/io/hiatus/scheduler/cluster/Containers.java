package io.hiatus.scheduler.cluster;

import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;

/** What the ResourceManager's containers are that are no running or starting work of an application. */
public final class Containers {
  private static final Set<RMContainerState> OVER = EnumSet.of(RMContainerState.COMPLETED, RMContainerState.EXPIRED,
      RMContainerState.RELEASED, RMContainerState.KILLED);

  private Containers() {
  }

  /**
   * Whether the container only holds the room of another one's promotion or increase until that is done, or what another
   * one's demotion or decrease gave back until that is released: such a one is never allocated.
   */
  public static boolean isUpdatePlaceholder(RMContainer container) {
    return container.getAllocatedSchedulerKey().getContainerToUpdate() != null
        || container.getState() == RMContainerState.NEW;
  }

  /** Whether it has ended, though its node may not have said so. */
  public static boolean isOver(RMContainer container) {
    return OVER.contains(container.getState());
  }
}
