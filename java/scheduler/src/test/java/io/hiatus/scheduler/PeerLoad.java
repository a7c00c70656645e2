package io.hiatus.scheduler;

import static java.util.Collections.emptyList;
import static java.util.Collections.singletonList;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.api.protocolrecords.NMContainerStatus;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;

/**
 * A load for any scheduler, played by one thread in rounds: each master calls, then each node reports in. Every
 * application wants a fixed number of containers at any time, so that what ends is asked for again.
 */
final class PeerLoad {
  /** The mean life of a container that ends, in heartbeats of its node. */
  static final int LIFE = 10;
  private static final int PRIORITY = 20;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** What an application wants. */
  static final class Want {
    final int containers;
    final int memoryMb;
    final boolean ends;
    final int fromRound;

    private Want(int containers, int memoryMb, boolean ends, int fromRound) {
      this.containers = containers;
      this.memoryMb = memoryMb;
      this.ends = ends;
      this.fromRound = fromRound;
    }

    /** So many containers of so much memory that run for ever. */
    static Want lasting(int containers, int memoryMb) {
      return new Want(containers, memoryMb, false, 0);
    }

    /** So many usual containers, each of which ends after 1 to 2 × LIFE heartbeats, beginning with that round. */
    static Want ending(int containers, int fromRound) {
      return new Want(containers, BenchCluster.TASK_MB, true, fromRound);
    }
  }

  private static final class App implements BenchNode.Owner {
    final ApplicationAttemptId attempt;
    final Want want;
    int live;
    int asked;

    App(ApplicationAttemptId attempt, Want want) {
      this.attempt = attempt;
      this.want = want;
    }

    @Override
    public void ended(boolean byItself) {
      live--;
    }
  }

  /** CPU time of each call of a master, in ns. */
  Samples calls = new Samples();
  /** CPU time of each heartbeat of a node, in ns. */
  Samples beats = new Samples();
  /** CPU time of each node's joining, in ns. */
  Samples joins = new Samples();
  private final BenchCluster cluster;
  private final int queues;
  private final int usersPerQueue;
  private final Random random = new Random(1);
  private final List<App> apps = new ArrayList<>();
  private int round;
  private long given;

  PeerLoad(MockRM rm, int queues, int usersPerQueue) {
    cluster = new BenchCluster(rm);
    this.queues = queues;
    this.usersPerQueue = usersPerQueue;
  }

  /** Applications come, spread over queues and users, and wait for {@link #call}. */
  void submit(int count, IntFunction<Want> wants) {
    for (int i = 0; i < count; i++) {
      String queue = "q" + i % queues;
      String user = queue + "-user" + i / queues % usersPerQueue;
      apps.add(new App(cluster.submit(queue, user, null), wants.apply(i)));
    }
  }

  /** Nodes join; each reports so many containers that it has been running. */
  void join(int count, int slots, int running) {
    for (int i = 0; i < count; i++) {
      BenchNode node = cluster.newNode(slots);
      List<NMContainerStatus> reports = new ArrayList<>();
      for (int c = 0; c < running; c++) {
        reports.add(recovered(node, i * running + c));
      }
      long cpu = THREADS.getCurrentThreadCpuTime();
      cluster.join(node, reports);
      joins.add(THREADS.getCurrentThreadCpuTime() - cpu);
    }
  }

  private NMContainerStatus recovered(BenchNode node, int number) {
    App app = apps.get(number % apps.size());
    app.live++;
    ContainerId id = ContainerId.newContainerId(app.attempt, number / apps.size() + 1);
    node.running(id, app, BenchNode.FOR_EVER);
    return NMContainerStatus.newInstance(id, 0, ContainerState.RUNNING, Resource.newInstance(BenchCluster.TASK_MB, 1), "", 0,
        Priority.newInstance(PRIORITY), System.currentTimeMillis());
  }

  /** All masters call. */
  void call() {
    apps.forEach(this::call);
  }

  /** All nodes work, and report in. */
  void beat() {
    List<BenchNode> nodes = cluster.nodes();
    nodes.forEach(node -> node.work(cluster.scheduler));
    long before = THREADS.getCurrentThreadCpuTime();
    for (BenchNode node : nodes) {
      cluster.scheduler.handle(new NodeUpdateSchedulerEvent(node.rmNode));
      long after = THREADS.getCurrentThreadCpuTime();
      beats.add(after - before);
      before = after;
    }
    round++;
  }

  /** The master fetches; then, if that is not what it lacks, says anew how much it lacks. */
  private void call(App app) {
    Want want = app.want;
    fetch(app, emptyList());
    if (round >= want.fromRound && app.live + app.asked != want.containers) {
      app.asked = want.containers - app.live;
      fetch(app, singletonList(BenchCluster.ask(PRIORITY, want.memoryMb, app.asked)));
    }
  }

  private void fetch(App app, List<ResourceRequest> asks) {
    long cpu = THREADS.getCurrentThreadCpuTime();
    List<Container> containers = cluster.allocate(app.attempt, asks);
    calls.add(THREADS.getCurrentThreadCpuTime() - cpu);
    for (Container container : containers) {
      given++;
      app.live++;
      app.asked--;
      cluster.node(container.getNodeId()).start(container.getId(), app,
          app.want.ends ? 1 + random.nextInt(2 * LIFE) : BenchNode.FOR_EVER);
    }
  }

  /** Forgets what everything took so far. */
  void resetTimes() {
    joins = new Samples();
    calls = new Samples();
    beats = new Samples();
  }

  /** Containers given out and fetched so far. */
  long given() {
    return given;
  }

  /** Containers asked for and not fetched. */
  long asked() {
    return apps.stream().mapToLong(app -> app.asked).sum();
  }

  /** Containers that run. */
  long live() {
    return apps.stream().mapToLong(app -> app.live).sum();
  }
}
