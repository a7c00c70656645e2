package io.hiatus.scheduler.apply;

import io.hiatus.scheduler.bridge.Answers;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.cluster.ClusterView;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.hadoop.HadoopApi;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceUsage;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.UsersManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.PendingApps;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what the core says of admission: CapacityScheduler looks at those that wait in the core's order, and does not count
 * ApplicationMasters of jobs that give way. Under the scheduler's write lock.
 */
public final class Admission {
  private static final Logger LOG = LoggerFactory.getLogger(Admission.class);

  /** What the core said of the applications of one queue. */
  private static final class Said {
    final List<FiCaSchedulerApp> givingWay = new ArrayList<>();
    final List<FiCaSchedulerApp> holding = new ArrayList<>();
    final Map<ApplicationId, Integer> order = new HashMap<>();
    final List<FiCaSchedulerApp> beyond = new ArrayList<>();
  }

  private final ClusterView cluster;
  /** Whether the order of any queue may not be stock's. */
  private boolean orders;
  /** Whether this Hadoop keeps its pending applications as expected. */
  private boolean works = true;

  public Admission(ClusterView cluster) {
    this.cluster = cluster;
  }

  /**
   * Carries out what the core says.
   *
   * @param facts by which handles are known
   * @return whether anybody was let in
   */
  public boolean apply(Answers said, FactWriter facts) {
    Map<CSQueue, Said> queues = new LinkedHashMap<>();
    while (said.hasNext()) {
      int at = said.next();
      ApplicationId id = facts.apps.thing(Records.Admission.app(said.buffer(), at));
      FiCaSchedulerApp attempt = id == null ? null : cluster.attempt(id);
      if (attempt != null && !attempt.isStopped() && attempt.getQueue() instanceof CSQueue) {
        add(queues.computeIfAbsent((CSQueue) attempt.getQueue(), any -> new Said()), attempt,
            Records.Admission.what(said.buffer(), at));
      }
    }
    int letIn = 0;
    for (Map.Entry<CSQueue, Said> queue : queues.entrySet()) {
      letIn += works ? attempted(queue.getKey(), queue.getValue()) : 0;
    }
    return letIn > 0;
  }

  private static void add(Said queue, FiCaSchedulerApp attempt, int what) {
    switch (what) {
      case 0:
        queue.givingWay.add(attempt);
        break;
      case 1:
        queue.holding.add(attempt);
        break;
      default:
        queue.order.put(attempt.getApplicationId(), queue.order.size());
        if (what == 3) {
          queue.beyond.add(attempt);
        }
        break;
    }
  }

  private int attempted(CSQueue queue, Said said) {
    try {
      return apply(queue, said);
    } catch (LinkageError | IllegalArgumentException e) {
      works = false;
      LOG.warn("Who is let in, and when, stays CapacityScheduler's: this Hadoop does not allow otherwise", e);
      return 0;
    }
  }

  private int apply(CSQueue queue, Said said) {
    int letIn = 0;
    for (FiCaSchedulerApp app : said.holding) {
      letIn += letIn(queue, Collections.singleton(app), HadoopApi.applications(queue));
    }
    PendingApps.of(HadoopApi.pendingApplications(queue))
        .order(app -> said.order.getOrDefault(app.getApplicationId(), Integer.MAX_VALUE));
    orders = true;
    if (!said.beyond.isEmpty() && !said.givingWay.isEmpty()) {
      int more = letIn(queue, said.beyond, said.givingWay);
      if (more > 0) {
        LOG.info("{} let in beyond the limit of ApplicationMasters of {}: those of {} jobs that give way do not count", more,
            queue.getQueuePath(), said.givingWay.size());
      }
      letIn += more;
    }
    return letIn;
  }

  /**
   * Those that wait are let in by CapacityScheduler's own code, as far as the limits on ApplicationMasters of the queue and of its users go
   * where the ApplicationMasters of {@code uncounted} hold nothing: the queue's books say so while that is looked at, and are as before then.
   *
   * @return how many were let in
   */
  private static int letIn(CSQueue queue, Collection<FiCaSchedulerApp> waiting, Collection<FiCaSchedulerApp> uncounted) {
    Lock lock = HadoopApi.writeLock(queue);
    lock.lock();
    try {
      List<FiCaSchedulerApp> left =
          uncounted.stream().filter(app -> HadoopApi.user(queue, app.getUser()) != null).collect(Collectors.toList());
      left.forEach(app -> count(queue, app, false));
      try {
        return PendingApps.of(HadoopApi.pendingApplications(queue)).only(waiting, () -> HadoopApi.activateApplications(queue));
      } finally {
        left.forEach(app -> count(queue, app, true));
      }
    } finally {
      lock.unlock();
    }
  }

  private static void count(CSQueue queue, FiCaSchedulerApp app, boolean counts) {
    String partition = app.getAppAMNodePartitionName();
    Resource master = app.getAMResource(partition);
    UsersManager.User user = HadoopApi.user(queue, app.getUser());
    for (ResourceUsage books : Arrays.asList(queue.getQueueResourceUsage(), user.getResourceUsage())) {
      if (counts) {
        books.incAMUsed(partition, master);
      } else {
        books.decAMUsed(partition, master);
      }
    }
  }

  /** Who is let in next is CapacityScheduler's own affair again. */
  public void end() {
    for (CSQueue queue : orders ? cluster.getCapacitySchedulerQueueManager().getQueues().values() : Collections.<CSQueue>emptyList()) {
      if (HadoopApi.isLeaf(queue)) {
        PendingApps.of(HadoopApi.pendingApplications(queue)).orderAsStock();
      }
    }
    orders = false;
  }
}
