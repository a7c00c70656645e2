package io.hiatus.scheduler;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/** Compares what the core believes with what the ResourceManager knows: cheaply, node by node (law 7). */
final class Books {
  private static final Set<RMContainerState> GONE = EnumSet.of(RMContainerState.COMPLETED, RMContainerState.EXPIRED,
      RMContainerState.RELEASED, RMContainerState.KILLED);

  private final HiatusScheduler scheduler;
  private final Facts facts;

  Books(HiatusScheduler scheduler, Facts facts) {
    this.scheduler = scheduler;
    this.facts = facts;
  }

  /** The first differences in words, or null. Nothing may be waiting to be told to the core. */
  String difference(long core, ByteBuffer answers) {
    if (!facts.isEmpty()) {
      return null;
    }
    List<String> found = new ArrayList<>();
    int length = Native.views(core, answers);
    while (length > 0) {
      for (int at = 0; at < length; at += answers.getInt(at + 4)) {
        if (answers.getInt(at) == Records.NodeView.KIND) {
          compare(answers, at, found);
        }
      }
      length = Native.rest(core, answers);
    }
    return found.isEmpty() ? null : String.join("; ", found.subList(0, Math.min(5, found.size())));
  }

  private void compare(ByteBuffer answers, int at, List<String> found) {
    NodeId id = facts.nodes.thing(Records.NodeView.node(answers, at));
    FiCaSchedulerNode node = id == null ? null : scheduler.getNode(id);
    if (node == null) {
      found.add("node " + id + " is gone");
      return;
    }
    int counted = 0;
    int suspended = 0;
    long used = node.getAllocatedResource().getMemorySize();
    for (RMContainer container : node.getCopiedListOfRunningContainers()) {
      // The queue has the resources of what is gone back; the node keeps them until it says that the process is gone, too.
      if (GONE.contains(container.getState()) || Facts.isHolder(container)) {
        used -= container.getExecutionType() == ExecutionType.OPPORTUNISTIC ? 0
            : container.getAllocatedResource().getMemorySize();
        continue;
      }
      if (facts.containers.of(container.getContainerId()) == null) {
        found.add(container.getContainerId() + " on " + id + " is unknown to the core");
      }
      if (container.getExecutionType() == ExecutionType.OPPORTUNISTIC) {
        suspended++;
      } else {
        counted++;
      }
    }
    int coreCounted = Records.NodeView.counted(answers, at);
    int coreSuspended = Records.NodeView.suspended(answers, at);
    if (counted != coreCounted || suspended != coreSuspended) {
      found.add(id + " has " + counted + " containers and " + suspended + " suspended, the core says " + coreCounted
          + " and " + coreSuspended);
    }
    long coreUsed = Records.NodeView.usedMemoryMb(answers, at);
    if (used != coreUsed) {
      found.add(id + " has " + used + " MB in use, the core says " + coreUsed);
    }
  }
}
