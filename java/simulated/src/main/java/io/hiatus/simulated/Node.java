package io.hiatus.simulated;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * The containers of a node, as a NodeManager with Hiatus' executor treats them: an opportunistic (demoted) one is paused only when a
 * guaranteed one needs its room, newest first, and goes on by itself when there is room. Nothing but a container's arrival, promotion
 * or end makes the node look again: a demotion alone does not. The simulator has the same rules ({@code rust/world/src/node_manager.rs}).
 * All times are milliseconds of one clock.
 */
final class Node {
  private final Resource total;
  private final Resource running = Resource.newInstance(0, 0);
  /** By arrival. */
  private final Map<ContainerId, Process> processes = new LinkedHashMap<>();
  private int pauses;

  /** @param total what it has for containers */
  Node(Resource total) {
    this.total = total;
  }

  Collection<Process> processes() {
    return processes.values();
  }

  Process process(ContainerId id) {
    return processes.get(id);
  }

  /** How often a container was paused so far. */
  int pauses() {
    return pauses;
  }

  /** How many wait in the node's queue, the paused ones among them. */
  int queued() {
    return (int) processes.values().stream().filter(process -> !process.isRunning()).count();
  }

  /** A container arrives, and runs if there is room for it. */
  void start(long now, Process process) {
    processes.put(process.id, process);
    tryRun(now, process);
  }

  /** What the container waited for is there. */
  void open(long now, ContainerId id) {
    Process process = processes.get(id);
    if (process != null) {
      process.open(now);
    }
  }

  /** The ResourceManager demotes a container, or promotes it. An order that is not newer than the last is ignored. */
  void update(long now, ContainerId id, ExecutionType type, int version) {
    Process process = processes.get(id);
    if (process != null && process.update(type, version) && process.isGuaranteed() && !process.isRunning()) {
      tryRun(now, process);
    }
  }

  /** A container is over: others may go on. False if it is not here. */
  boolean end(long now, ContainerId id) {
    Process ended = processes.remove(id);
    if (ended == null) {
      return false;
    }
    if (ended.isRunning()) {
      Resources.subtractFrom(running, ended.size);
    }
    for (boolean guaranteed : new boolean[] {true, false}) {
      for (Process process : new ArrayList<>(processes.values())) {
        if (!process.isRunning() && process.isGuaranteed() == guaranteed) {
          tryRun(now, process);
        }
      }
    }
    return true;
  }

  /** Time goes on until now: who has done its work by then ends when it has, and is told. */
  List<ContainerId> advance(long now) {
    List<ContainerId> done = new ArrayList<>();
    while (true) {
      Process first = null;
      for (Process process : processes.values()) {
        if (process.endMs() <= now && (first == null || process.endMs() < first.endMs())) {
          first = process;
        }
      }
      if (first == null) {
        return done;
      }
      end(first.endMs(), first.id);
      done.add(first.id);
    }
  }

  /** Runs it if there is room; for a guaranteed one room is made. */
  private void tryRun(long now, Process process) {
    Resource room = Resources.subtract(total, running);
    List<Process> toPause = new ArrayList<>();
    if (process.isGuaranteed()) {
      List<Process> all = new ArrayList<>(processes.values());
      for (int i = all.size() - 1; i >= 0 && !Resources.fitsIn(process.size, room); i--) {
        Process other = all.get(i);
        if (other.isRunning() && !other.isGuaranteed()) {
          Resources.addTo(room, other.size);
          toPause.add(other);
        }
      }
    }
    if (!Resources.fitsIn(process.size, room)) {
      return;
    }
    for (Process other : toPause) {
      other.pause(now);
      Resources.subtractFrom(running, other.size);
      pauses++;
    }
    Resources.addTo(running, process.size);
    process.run(now);
  }
}
