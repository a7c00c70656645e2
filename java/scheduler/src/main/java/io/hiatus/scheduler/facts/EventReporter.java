package io.hiatus.scheduler.facts;

import io.hiatus.scheduler.cluster.ClusterView;
import io.hiatus.scheduler.hadoop.HadoopApi;
import java.util.Collection;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAttributesUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeLabelsUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeResourceUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;

/**
 * Tells the core what an event changed that CapacityScheduler has handled: of nodes and applications those that it names;
 * queues, and who may run, are looked at before the next step, however many events there were.
 */
public final class EventReporter {
  private final ClusterView cluster;
  private final SnapshotReporter reporter;

  public EventReporter(ClusterView cluster, SnapshotReporter reporter) {
    this.cluster = cluster;
    this.reporter = reporter;
  }

  /** Under the scheduler's write lock. */
  public void tell(FactWriter facts, SchedulerEvent event) {
    switch (event.getType()) {
      case NODE_ADDED:
        FiCaSchedulerNode added = cluster.getNode(((NodeAddedSchedulerEvent) event).getAddedRMNode().getNodeID());
        reporter.node(facts, added);
        reporter.containers(facts, added);
        facts.blacklistsChanged();
        facts.queuesChanged();
        facts.activeChanged();
        break;
      case NODE_REMOVED:
        facts.nodeRemoved(((NodeRemovedSchedulerEvent) event).getRemovedRMNode().getNodeID());
        facts.queuesChanged();
        break;
      case NODE_RESOURCE_UPDATE:
        reporter.node(facts, cluster.getNode(((NodeResourceUpdateSchedulerEvent) event).getRMNode().getNodeID()));
        facts.queuesChanged();
        break;
      case NODE_ATTRIBUTES_UPDATE:
        Set<String> hosts = ((NodeAttributesUpdateSchedulerEvent) event).getUpdatedNodeToAttributes().keySet();
        hosts.forEach(host -> nodes(facts, cluster.getNodeIds(host)));
        break;
      case NODE_LABELS_UPDATE:
        nodes(facts, ((NodeLabelsUpdateSchedulerEvent) event).getUpdatedNodeToLabels().keySet());
        facts.queuesChanged();
        break;
      case APP_ADDED:
        reporter.app(facts, ((AppAddedSchedulerEvent) event).getApplicationId());
        facts.queuesChanged();
        break;
      case APP_ATTEMPT_ADDED:
        facts.asksChanged(((AppAttemptAddedSchedulerEvent) event).getApplicationAttemptId().getApplicationId());
        facts.activeChanged();
        break;
      case APP_ATTEMPT_REMOVED:
        reporter.attemptEnded(facts, (AppAttemptRemovedSchedulerEvent) event);
        facts.activeChanged();
        break;
      case APP_REMOVED:
        reporter.appRemoved(facts, (AppRemovedSchedulerEvent) event);
        facts.activeChanged();
        break;
      default:
        if (HadoopApi.changesQueues(event.getType())) {
          facts.queuesChanged();
        }
        break;
    }
  }

  private void nodes(FactWriter facts, Collection<NodeId> ids) {
    ids.forEach(id -> reporter.node(facts, cluster.getNode(id)));
  }
}
