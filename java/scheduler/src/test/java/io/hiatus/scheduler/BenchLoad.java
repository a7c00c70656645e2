package io.hiatus.scheduler;

import static java.util.Collections.emptyList;
import static java.util.Collections.singletonList;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;

/**
 * Jobs for a benchmark. There are always the same number of them: 4 in 5 have 5–20 tasks, most others 50–200, 1 in 50 has
 * 2,000; each that is done is followed by a new one. A task takes 5–30 heartbeats of its node, in which it is not suspended.
 */
final class BenchLoad {
  /** A job and its master. */
  private static final class Job implements BenchNode.Owner {
    ApplicationAttemptId attempt;
    Container master;
    int left;
    boolean asked;

    @Override
    public void ended(boolean byItself) {
      left -= byItself ? 1 : 0;
    }
  }

  private final BenchCluster cluster;
  private final Random random = new Random(1);
  private final List<BenchNode> nodes;
  private final List<Job> jobs = new ArrayList<>();
  private int submitted;
  private long given;

  BenchLoad(MockRM rm, int nodeCount, int slots, int jobCount) {
    cluster = new BenchCluster(rm);
    for (int i = 0; i < nodeCount; i++) {
      cluster.join(cluster.newNode(slots), emptyList());
    }
    nodes = cluster.nodes();
    for (int i = 0; i < jobCount; i++) {
      jobs.add(submit());
    }
  }

  int nodes() {
    return nodes.size();
  }

  int jobs() {
    return jobs.size();
  }

  /** Containers given out so far. */
  long given() {
    return given;
  }

  /** A second passes on the node. */
  void work(int node) {
    nodes.get(node).work(cluster.scheduler);
  }

  /** The node reports in: this is the scheduler's work. */
  void beat(int node) {
    cluster.scheduler.handle(new NodeUpdateSchedulerEvent(nodes.get(node).rmNode));
  }

  /** The job's master calls, and starts what it got; a job that is done is followed by another. */
  void call(int number) {
    Job job = jobs.get(number);
    boolean ask = job.master != null && !job.asked;
    job.asked |= ask;
    List<ResourceRequest> asks = ask ? singletonList(BenchCluster.ask(20, BenchCluster.TASK_MB, job.left)) : emptyList();
    for (Container container : cluster.allocate(job.attempt, asks)) {
      given++;
      boolean isMaster = job.master == null;
      if (isMaster) {
        job.master = container;
      }
      cluster.node(container.getNodeId()).start(container.getId(), job,
          isMaster ? BenchNode.FOR_EVER : 5 + random.nextInt(26));
    }
    if (job.asked && job.left <= 0) {
      cluster.finish(job.attempt);
      jobs.set(number, submit());
    }
  }

  private Job submit() {
    Job job = new Job();
    int of50 = random.nextInt(50);
    job.left = of50 == 0 ? 2_000 : of50 < 10 ? 50 + random.nextInt(151) : 5 + random.nextInt(16);
    job.attempt = cluster.submit("default", "user" + ++submitted % 7, () -> job.master);
    cluster.allocate(job.attempt, singletonList(BenchCluster.ask(0, BenchCluster.TASK_MB / 2, 1)));
    return job;
  }
}
