package io.hiatus.scheduler.facts;

import io.hiatus.scheduler.cluster.ClusterView;
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
public final class EventTeller {
  private final ClusterView cluster;
  private final Teller teller;

  public EventTeller(ClusterView cluster, Teller teller) {
    this.cluster = cluster;
    this.teller = teller;
  }

  /** Under the scheduler's write lock. */
  public void tell(Facts facts, SchedulerEvent event) {
    switch (event.getType()) {
      case NODE_ADDED:
        FiCaSchedulerNode added = cluster.getNode(((NodeAddedSchedulerEvent) event).getAddedRMNode().getNodeID());
        teller.node(facts, added);
        teller.containers(facts, added);
        facts.blacklistsChanged();
        facts.queuesChanged();
        facts.activeChanged();
        break;
      case NODE_REMOVED:
        facts.nodeRemoved(((NodeRemovedSchedulerEvent) event).getRemovedRMNode().getNodeID());
        facts.queuesChanged();
        break;
      case NODE_RESOURCE_UPDATE:
        teller.node(facts, cluster.getNode(((NodeResourceUpdateSchedulerEvent) event).getRMNode().getNodeID()));
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
        teller.app(facts, ((AppAddedSchedulerEvent) event).getApplicationId());
        facts.queuesChanged();
        break;
      case APP_ATTEMPT_ADDED:
        facts.asksChanged(((AppAttemptAddedSchedulerEvent) event).getApplicationAttemptId().getApplicationId());
        facts.activeChanged();
        break;
      case APP_ATTEMPT_REMOVED:
        teller.attemptEnded(facts, (AppAttemptRemovedSchedulerEvent) event);
        facts.activeChanged();
        break;
      case APP_REMOVED:
        teller.appRemoved(facts, (AppRemovedSchedulerEvent) event);
        facts.activeChanged();
        break;
      case MANAGE_QUEUE:
      case AUTO_QUEUE_DELETION:
        facts.queuesChanged();
        break;
      default:
        break;
    }
  }

  private void nodes(Facts facts, Collection<NodeId> ids) {
    ids.forEach(id -> teller.node(facts, cluster.getNode(id)));
  }
}
