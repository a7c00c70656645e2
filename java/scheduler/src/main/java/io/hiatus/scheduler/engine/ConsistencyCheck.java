package io.hiatus.scheduler.engine;

import io.hiatus.scheduler.bridge.Answers;
import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.cluster.ClusterView;
import io.hiatus.scheduler.cluster.Containers;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.state.Demotions;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * Compares what the core believes with what the ResourceManager knows (law 7): in rounds over all nodes, a few at a time.
 * Containers come and go without the scheduler's lock, so that a difference counts only if it is still there in the next
 * round.
 */
final class ConsistencyCheck {
  /** Nodes that are compared while the lock is held once. */
  private static final int NODES_AT_ONCE = 100;

  private final ClusterView cluster;
  private final Demotions demotions;
  private final FactWriter facts;
  private final long core;
  private final Answers answers;
  private final ByteBuffer asked = FactBuffer.fresh(NODES_AT_ONCE * Integer.BYTES);
  /** Differences by node, as last seen. */
  private final Map<NodeId, Set<String>> suspects = new LinkedHashMap<>();
  private final List<String> staying = new ArrayList<>();
  private final Deque<NodeId> again = new ArrayDeque<>();
  private final Set<NodeId> suspectBefore = new HashSet<>();
  private Iterator<Map.Entry<NodeId, Integer>> others = Collections.emptyIterator();

  ConsistencyCheck(ClusterView cluster, Demotions demotions, FactWriter facts, long core) {
    this.cluster = cluster;
    this.demotions = demotions;
    this.facts = facts;
    this.core = core;
    this.answers = new Answers(core);
  }

  /** A new round begins: suspects first. */
  void begin() {
    staying.clear();
    again.addAll(suspects.keySet());
    suspectBefore.clear();
    suspectBefore.addAll(again);
    others = facts.nodes.all().iterator();
  }

  boolean isRoundOver() {
    return again.isEmpty() && !others.hasNext();
  }

  /** Differences that were there in the last round and still are; good at the end of a round. */
  List<String> staying() {
    return staying;
  }

  /** Differences as last seen, whether they stay or not. */
  List<String> suspects() {
    return suspects.values().stream().flatMap(Set::stream).collect(Collectors.toList());
  }

  /** The first of many differences, in words. */
  static String first(List<String> differences) {
    return String.join("; ", differences.subList(0, Math.min(5, differences.size())));
  }

  /** Compares the next nodes. Under the scheduler's write lock; no answers of the core may be waiting to be fetched. */
  void look() {
    Set<NodeId> nodes = new LinkedHashSet<>();
    asked.clear();
    for (int i = 0; i < NODES_AT_ONCE && !isRoundOver(); i++) {
      boolean isSuspect = !again.isEmpty();
      NodeId id = isSuspect ? again.remove() : others.next().getKey();
      Integer number = facts.nodes.of(id);
      if (number == null) {
        suspects.remove(id);
      } else if (isSuspect || !suspectBefore.contains(id)) {
        nodes.add(id);
        asked.putInt(number);
      }
    }
    Map<Integer, View> views = views();
    for (NodeId id : nodes) {
      Set<String> found = new LinkedHashSet<>();
      compare(id, views.get(facts.nodes.of(id)), found);
      note(id, found);
    }
  }

  private void note(NodeId id, Set<String> found) {
    if (found.isEmpty()) {
      suspects.remove(id);
    } else if (!facts.isWritten()) {
      // While something waits to be told, it may be just that: what was seen before is looked at again.
      Set<String> before = suspects.put(id, found);
      found.stream().filter(before == null ? Collections.emptySet()::contains : before::contains).forEach(staying::add);
    }
  }

  private Map<Integer, View> views() {
    Map<Integer, View> views = new HashMap<>();
    answers.begin(Native.nodeViews(core, asked, asked.position(), answers.buffer()));
    while (answers.hasNext()) {
      int at = answers.next();
      views.put(Records.NodeView.node(answers.buffer(), at), new View(answers.buffer(), at));
    }
    return views;
  }

  private void compare(NodeId id, View view, Set<String> found) {
    FiCaSchedulerNode node = cluster.getNode(id);
    if (node == null || view == null) {
      found.add("node " + id + " is known to " + (node == null ? "the core" : "the ResourceManager") + " alone");
      return;
    }
    long usedMb = node.getAllocatedResource().getMemorySize();
    List<ContainerId> told = facts.on(id);
    Set<ContainerId> onlyTold = new HashSet<>(told);
    for (RMContainer container : node.getCopiedListOfRunningContainers()) {
      boolean suspended = container.getExecutionType() == ExecutionType.OPPORTUNISTIC;
      // The queue has the resources of what is over back; the node keeps them until it says that the process is gone, too.
      if (Containers.isOver(container) || Containers.isUpdatePlaceholder(container)) {
        usedMb -= suspended ? 0 : container.getAllocatedResource().getMemorySize();
        continue;
      }
      ContainerId one = container.getContainerId();
      if (suspended && !demotions.isOurs(one)) {
        continue; // its application's own affair
      }
      if (!onlyTold.remove(one)) {
        found.add(one + " on " + id + " is unknown to the core");
      } else if (suspended != facts.isSuspended(one)) {
        found.add(one + " on " + id + " is suspended to one side alone");
      }
    }
    onlyTold.forEach(one -> found.add(one + " on " + id + " is known to the core alone"));
    long suspended = told.stream().filter(facts::isSuspended).count();
    if (view.counted != told.size() - suspended || view.suspended != suspended) {
      found.add(id + ": the core was told of " + told.size() + " containers, " + suspended + " of them suspended, and counts "
          + (view.counted + view.suspended) + " and " + view.suspended);
    }
    if (view.usedMb != usedMb) {
      found.add(id + ": the core says " + (view.usedMb - usedMb) + " MB more are in use than there are");
    }
  }

  /** The core's side of a node. */
  private static final class View {
    final long usedMb;
    final int counted;
    final int suspended;

    View(ByteBuffer from, int at) {
      usedMb = Records.NodeView.usedMemoryMb(from, at);
      counted = Records.NodeView.counted(from, at);
      suspended = Records.NodeView.suspended(from, at);
    }
  }
}
