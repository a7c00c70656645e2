package io.hiatus.scheduler.cluster;

import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSAssignment;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/** What Hiatus changes in CapacityScheduler, all of it by CapacityScheduler's own means. Under the scheduler's write lock. */
public interface ClusterAccess extends ClusterView {
  /** Asks for updates of containers, as their application would. */
  void update(SchedulerApplicationAttempt attempt, ContainerUpdates updates);

  /** What is to be committed of an assignment; null if nothing is. */
  ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> createResourceCommitRequest(CSAssignment assignment);

  /** Commits what was proposed for an attempt; false where CapacityScheduler refuses. */
  boolean commit(FiCaSchedulerApp attempt, ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request);

  /** Ends a container. */
  void completedContainer(RMContainer container, ContainerStatus status, RMContainerEventType event);

  /** Takes back a reservation. */
  void killReservedContainer(RMContainer reserved);

  /** Takes back what stock reserved: Hiatus keeps room for large asks in its own way, and a reserved node takes nothing else. */
  default void dropReservations() {
    getAllNodes().forEach(this::dropReservation);
  }

  /** The same on one node. */
  default void dropReservation(FiCaSchedulerNode node) {
    if (node.getReservedContainer() != null) {
      killReservedContainer(node.getReservedContainer());
    }
  }
}
