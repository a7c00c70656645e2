package io.hiatus.scheduler;

import static java.util.Collections.emptyList;
import static java.util.Collections.singletonList;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.UpdatedContainerInfo;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;

/** A node of a benchmark: what runs there, and what it has to report with its next heartbeat. */
final class BenchNode {
  /** For {@link #start}: a container that runs until somebody else ends it. */
  static final int FOR_EVER = Integer.MAX_VALUE;

  /** Who wants to know of a container's end. */
  interface Owner {
    /** It is gone: by itself, or because the scheduler took it. */
    void ended(boolean byItself);
  }

  private static final class Task {
    final ContainerId id;
    final Owner owner;
    int beatsLeft;

    Task(ContainerId id, Owner owner, int beatsLeft) {
      this.id = id;
      this.owner = owner;
      this.beatsLeft = beatsLeft;
    }
  }

  /** The node as the scheduler sees it. */
  final RMNode rmNode;
  private final List<Task> running = new ArrayList<>();
  private List<ContainerStatus> launched = new ArrayList<>();
  private List<ContainerStatus> ended = new ArrayList<>();

  BenchNode(RMNode inner) {
    rmNode = (RMNode) Proxy.newProxyInstance(RMNode.class.getClassLoader(), new Class<?>[] {RMNode.class},
        (self, method, args) -> method.getName().equals("pullContainerUpdates") ? report() : method.invoke(inner, args));
  }

  /** Starts a container that works for so many heartbeats. */
  void start(ContainerId id, Owner owner, int beats) {
    launched.add(ContainerStatus.newInstance(id, ContainerState.RUNNING, "", 0));
    running(id, owner, beats);
  }

  /** The same for one that the scheduler learns of in another way. */
  void running(ContainerId id, Owner owner, int beats) {
    running.add(new Task(id, owner, beats));
  }

  /** A heartbeat's worth of work of all that runs and is not suspended. */
  void work(ResourceScheduler scheduler) {
    for (int i = running.size() - 1; i >= 0; i--) {
      Task task = running.get(i);
      RMContainer container = scheduler.getRMContainer(task.id);
      boolean works = container != null && task.beatsLeft != FOR_EVER
          && container.getExecutionType() == ExecutionType.GUARANTEED;
      if (container == null || works && --task.beatsLeft <= 0) {
        running.remove(i);
        ended.add(ContainerStatus.newInstance(task.id, ContainerState.COMPLETE, "", 0));
        task.owner.ended(container != null);
      }
    }
  }

  private List<UpdatedContainerInfo> report() {
    if (launched.isEmpty() && ended.isEmpty()) {
      return emptyList();
    }
    UpdatedContainerInfo news = new UpdatedContainerInfo(launched, ended, emptyList());
    launched = new ArrayList<>();
    ended = new ArrayList<>();
    return singletonList(news);
  }
}
