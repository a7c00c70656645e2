package io.hiatus.scheduler.cluster;

import java.util.List;
import java.util.Map;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerQueueManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;
import org.apache.hadoop.yarn.util.resource.ResourceCalculator;

/**
 * What Hiatus looks up in CapacityScheduler: nodes, applications, queues and containers as the ResourceManager has them. Most
 * of it are CapacityScheduler's own methods, by their own names.
 */
public interface ClusterView {
  RMContext getRMContext();

  CapacitySchedulerConfiguration getConfiguration();

  /** When the scheduler started, ms since 1970. */
  long getStartTime();

  ResourceCalculator getResourceCalculator();

  Resource getClusterResource();

  Resource getMinimumResourceCapability();

  List<FiCaSchedulerNode> getAllNodes();

  /** The node, or null. */
  FiCaSchedulerNode getNode(NodeId id);

  /** The nodes on that host. */
  List<NodeId> getNodeIds(String host);

  CSQueue getRootQueue();

  CapacitySchedulerQueueManager getCapacitySchedulerQueueManager();

  /** The configuration that the queues read. */
  CapacitySchedulerConfiguration getQueueConfiguration();

  Map<ApplicationId, SchedulerApplication<FiCaSchedulerApp>> getSchedulerApplications();

  /** The current attempt of that one's application, or null. */
  FiCaSchedulerApp getApplicationAttempt(ApplicationAttemptId id);

  /** The current attempt of the container's application, or null. */
  FiCaSchedulerApp getCurrentAttemptForContainer(ContainerId id);

  /** The container, or null. */
  RMContainer getRMContainer(ContainerId id);

  /** The application's current attempt, or null. */
  default FiCaSchedulerApp attempt(ApplicationId id) {
    SchedulerApplication<FiCaSchedulerApp> application = getSchedulerApplications().get(id);
    return application == null ? null : application.getCurrentAppAttempt();
  }

  /** Whether only memory is counted, and vcores are not. */
  default boolean countsMemoryOnly() {
    return getResourceCalculator() instanceof DefaultResourceCalculator;
  }

  /** After a restart the ResourceManager gives nodes time to report before anything is placed. */
  default boolean isReady() {
    return !getRMContext().isWorkPreservingRecoveryEnabled()
        || getRMContext().isSchedulerReadyForAllocatingContainers();
  }

  /** The version of Hadoop that this ResourceManager is of. */
  default String hadoopVersion() {
    return VersionInfo.getVersion();
  }
}
