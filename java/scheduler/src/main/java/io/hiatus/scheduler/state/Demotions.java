package io.hiatus.scheduler.state;

import io.hiatus.scheduler.cluster.ClusterView;
import io.hiatus.scheduler.cluster.Containers;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * The containers that Hiatus demoted and has not promoted, in every mode and from before a restart: those it may promote. What
 * an application demoted itself, or was given as opportunistic, is that application's own affair.
 *
 * <p>Where nobody but Hiatus can demote, every demoted container is its own. Where YARN gives out opportunistic containers,
 * which are ours stands among the application's properties, saved behind each demotion and not with it, since the scheduler's
 * lock must not wait for a store: of what was demoted in the last moments before a crash the next ResourceManager may not know.
 */
public final class Demotions {
  /** The property: ids of containers. */
  private static final String DEMOTED = "hiatus.demoted";

  private final ClusterView cluster;
  private final HiatusMetrics metrics;
  private final LiveContainers live = new LiveContainers();
  /** Those of them that lend their room, or wait to come back into it. */
  private final Map<ContainerId, RMContainer> lenders = new HashMap<>();
  /** Saves applications whose property changed, or null where all that is demoted is ours. */
  private final AppSaver saver;

  public Demotions(ClusterView cluster, HiatusMetrics metrics, Configuration conf) {
    this.cluster = cluster;
    this.metrics = metrics;
    boolean othersDemote = YarnConfiguration.isOpportunisticContainerAllocationEnabled(conf)
        || YarnConfiguration.isDistSchedulingEnabled(conf);
    saver = othersDemote ? new AppSaver(cluster.getRMContext()) : null;
  }

  /** Whether applications may have demoted, or opportunistic, containers of their own. */
  public boolean othersDemote() {
    return saver != null;
  }

  /** The thread that saves behind the demotions, or null where nothing has to be saved. */
  public AppSaver saver() {
    return saver;
  }

  /** Whether the container is demoted, and by Hiatus. */
  public synchronized boolean isOurs(ContainerId id) {
    return live.has(id);
  }

  /** Those on a node, longest first: a copy. */
  public synchronized List<ContainerId> on(NodeId node) {
    return live.on(node);
  }

  /** Those of an application: a copy. */
  synchronized List<ContainerId> of(ApplicationId app) {
    return live.of(app);
  }

  public synchronized int count() {
    return live.size();
  }

  /** Hiatus demoted the container. */
  public synchronized void demoted(RMContainer container) {
    add(container);
    keep(app(container.getContainerId()));
  }

  /** Hiatus demoted the container so that it lends its room. */
  public synchronized void lends(RMContainer container) {
    if (live.has(container.getContainerId())) {
      lenders.put(container.getContainerId(), container);
    }
  }

  /** It is suspended for another reason now, and its room is anybody's. */
  synchronized void lendsNoMore(ContainerId id) {
    lenders.remove(id);
  }

  /** Tells an application of less room than there is (its headroom): MapReduce would ask for reduces that may not start there. */
  public void withholdLent(Allocation allocation) {
    Resource room = lentAndFree();
    if (allocation.getResourceLimit() != null && !Resources.isNone(room)) {
      allocation.setResourceLimit(Resources.subtractNonNegative(allocation.getResourceLimit(), room));
    }
  }

  /**
   * What is free on nodes because its holders lend it: for some maps only, until the holders come back. What is borrowed is not free.
   */
  Resource lentAndFree() {
    List<RMContainer> all;
    synchronized (this) {
      if (lenders.isEmpty()) {
        return Resources.none();
      }
      all = new ArrayList<>(lenders.values());
    }
    Map<NodeId, Resource> lent = new HashMap<>();
    for (RMContainer lender : all) {
      Resources.addTo(lent.computeIfAbsent(lender.getAllocatedNode(), any -> Resource.newInstance(0, 0)), lender.getAllocatedResource());
    }
    Resource free = Resource.newInstance(0, 0);
    lent.forEach((id, room) -> {
      FiCaSchedulerNode node = cluster.getNode(id);
      if (node != null) {
        Resources.addTo(free, Resources.componentwiseMin(room, node.getUnallocatedResource()));
      }
    });
    return free;
  }

  /** It was promoted, or has ended. */
  public synchronized void forget(ContainerId id) {
    if (remove(id)) {
      keep(app(id));
    }
  }

  /** What an event changed that CapacityScheduler has handled. */
  public synchronized void hear(SchedulerEvent event) {
    switch (event.getType()) {
      case NODE_ADDED:
        FiCaSchedulerNode node = cluster.getNode(((NodeAddedSchedulerEvent) event).getAddedRMNode().getNodeID());
        if (node != null) {
          node.getCopiedListOfRunningContainers().stream().filter(this::isOursByItsProperty).forEach(this::add);
        }
        break;
      case NODE_REMOVED:
        live.on(((NodeRemovedSchedulerEvent) event).getRemovedRMNode().getNodeID()).forEach(this::remove);
        break;
      case APP_ATTEMPT_REMOVED:
        live.of(((AppAttemptRemovedSchedulerEvent) event).getApplicationAttemptID().getApplicationId()).stream()
            .filter(id -> cluster.getRMContainer(id) == null).forEach(this::remove);
        break;
      default:
        break;
    }
  }

  private boolean isOursByItsProperty(RMContainer container) {
    return container.getExecutionType() == ExecutionType.OPPORTUNISTIC && !Containers.isUpdatePlaceholder(container)
        && (saver == null || AppProperties.get(cluster.getRMContext(), app(container.getContainerId()), DEMOTED)
            .contains(container.getContainerId().toString()));
  }

  private void add(RMContainer container) {
    live.add(container.getContainerId(), container.getAllocatedNode());
    metrics.suspendedNow.set(live.size());
  }

  private boolean remove(ContainerId id) {
    boolean there = live.remove(id);
    lenders.remove(id);
    metrics.suspendedNow.set(live.size());
    return there;
  }

  private void keep(ApplicationId app) {
    if (saver != null) {
      Set<String> ids = live.of(app).stream().map(ContainerId::toString).collect(Collectors.toSet());
      AppProperties.put(cluster.getRMContext(), app, DEMOTED, ids);
      saver.changed(app);
    }
  }

  private static ApplicationId app(ContainerId id) {
    return id.getApplicationAttemptId().getApplicationId();
  }
}
