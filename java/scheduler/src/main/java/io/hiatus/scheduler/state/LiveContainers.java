package io.hiatus.scheduler.state;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;

/** Live containers by node and by application, and which of them are suspended. Not thread-safe. */
public final class LiveContainers {
  private final Map<ContainerId, NodeId> placeOf = new HashMap<>();
  private final Map<NodeId, Set<ContainerId>> onNode = new HashMap<>();
  private final Map<ApplicationId, Set<ContainerId>> ofApp = new HashMap<>();
  private final Set<ContainerId> suspended = new LinkedHashSet<>();

  public void add(ContainerId id, NodeId node) {
    placeOf.put(id, node);
    onNode.computeIfAbsent(node, any -> new LinkedHashSet<>()).add(id);
    ofApp.computeIfAbsent(app(id), any -> new LinkedHashSet<>()).add(id);
  }

  /** False if it was not there. */
  public boolean remove(ContainerId id) {
    NodeId node = placeOf.remove(id);
    if (node != null) {
      removeFrom(onNode, node, id);
      removeFrom(ofApp, app(id), id);
      suspended.remove(id);
    }
    return node != null;
  }

  boolean has(ContainerId id) {
    return placeOf.containsKey(id);
  }

  int size() {
    return placeOf.size();
  }

  /** Those on a node: a copy. */
  public List<ContainerId> on(NodeId node) {
    return new ArrayList<>(onNode.getOrDefault(node, Collections.emptySet()));
  }

  /** Those of an application: a copy. */
  public List<ContainerId> of(ApplicationId app) {
    return new ArrayList<>(ofApp.getOrDefault(app, Collections.emptySet()));
  }

  /** False if it is suspended already. */
  public boolean suspend(ContainerId id) {
    return suspended.add(id);
  }

  /** False if it is not suspended. */
  public boolean resume(ContainerId id) {
    return suspended.remove(id);
  }

  public boolean isSuspended(ContainerId id) {
    return suspended.contains(id);
  }

  /** Those that are suspended, longest first: a copy. */
  public List<ContainerId> suspended() {
    return new ArrayList<>(suspended);
  }

  private static ApplicationId app(ContainerId id) {
    return id.getApplicationAttemptId().getApplicationId();
  }

  private static <K> void removeFrom(Map<K, Set<ContainerId>> sets, K key, ContainerId id) {
    sets.computeIfPresent(key, (any, all) -> all.remove(id) && all.isEmpty() ? null : all);
  }
}
