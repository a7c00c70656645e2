package io.hiatus.simulated;

import io.hiatus.report.JobReport;
import io.hiatus.report.Report;
import io.hiatus.report.ReportSender;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * A MapReduce job's ApplicationMaster, as far as the ResourceManager and Hiatus see it: it registers, asks, starts its tasks on
 * simulated nodes, and tells its progress over Hiatus' report channel. It is called by one thread at a time; only its tasks' ends
 * come from others.
 */
final class SimulatedMaster implements SimulatedNode.Listener {
  /** Request priorities of maps and of reduces (MapReduce's RMContainerAllocator). */
  private static final int[] PRIORITIES = {20, 10};
  /** As ReportingPreemptionPolicy (java/mapreduce) reports: while reduces run beside maps, and otherwise. */
  private static final long LIVELY_MS = 1_000;
  private static final long QUIET_MS = 5_000;

  private static final class Attempt {
    final int stage;
    final int task;
    final SimulatedNode node;

    Attempt(int stage, int task, SimulatedNode node) {
      this.stage = stage;
      this.task = task;
      this.node = node;
    }
  }

  private final JobSpec job;
  private final ContainerId self;
  private final Function<NodeId, SimulatedNode> nodes;
  private final Clock clock;
  private final ApplicationMasterProtocol rm;
  private final ReportSender reports;
  private final Tasks tasks;
  private final Map<ContainerId, Attempt> running = new HashMap<>();
  private final int[] asked;
  private final List<ContainerId> releases = new ArrayList<>();
  private final AtomicBoolean ended = new AtomicBoolean();
  private int responseId;
  private int lost;
  private long reportNumber = ReportSender.firstNumber();
  private long reportedMs = Long.MIN_VALUE / 2;

  /**
   * @param self the container in which it would run
   * @param credentials what the ResourceManager gave that container
   */
  SimulatedMaster(Configuration conf, JobSpec job, ContainerId self, Credentials credentials, Function<NodeId, SimulatedNode> nodes,
      Clock clock) throws IOException, InterruptedException {
    this.job = job;
    this.self = self;
    this.nodes = nodes;
    this.clock = clock;
    this.tasks = new Tasks(job.stages);
    this.asked = new int[job.stages.size()];
    UserGroupInformation user = UserGroupInformation.createRemoteUser(self.getApplicationAttemptId().toString());
    user.addCredentials(credentials);
    rm = user.doAs((PrivilegedExceptionAction<ApplicationMasterProtocol>)
        () -> ClientRMProxy.createRMProxy(conf, ApplicationMasterProtocol.class));
    reports = conf.getInt(ReportSender.PORT, 0) == 0 ? null : new ReportSender(conf, ReportSender.ofMaster(user));
  }

  void register(String host) throws YarnException, IOException {
    rm.registerApplicationMaster(RegisterApplicationMasterRequest.newInstance(host, -1, ""));
  }

  /** Containers that were lost or killed so far. */
  synchronized int lost() {
    return lost;
  }

  /** One call to the ResourceManager. True if the job is over with it, and nothing more is to be called. */
  boolean step() throws YarnException, IOException {
    AllocateRequest request;
    synchronized (this) {
      if (tasks.allDone()) {
        ended.set(true);
      } else {
        giveBack();
      }
      request = AllocateRequest.newInstance(responseId, tasks.progress(), asks(), new ArrayList<>(releases), null);
      releases.clear();
    }
    if (ended.get()) {
      return finish();
    }
    AllocateResponse answer = rm.allocate(request);
    responseId = answer.getResponseId();
    answer.getAllocatedContainers().forEach(this::begin);
    answer.getCompletedContainersStatuses().forEach(this::completed);
    report();
    return false;
  }

  private boolean finish() throws YarnException, IOException {
    boolean over = rm.finishApplicationMaster(FinishApplicationMasterRequest.newInstance(FinalApplicationStatus.SUCCEEDED, "", ""))
        .getIsUnregistered();
    if (over) {
      close();
    }
    return over;
  }

  /** Nothing more comes from it. */
  void close() {
    RPC.stopProxy(rm);
    if (reports != null) {
      reports.close();
    }
  }

  /** What has changed of what it wants. */
  private List<ResourceRequest> asks() {
    List<ResourceRequest> changed = new ArrayList<>();
    for (int stage = 0; stage < asked.length; stage++) {
      int wanted = tasks.wanted(stage);
      if (wanted != asked[stage]) {
        asked[stage] = wanted;
        changed.add(ResourceRequest.newInstance(Priority.newInstance(PRIORITIES[stage]), ResourceRequest.ANY,
            job.stages.get(stage).size, wanted));
      }
    }
    return changed;
  }

  /** A reduce goes where a map waits for a container and its job has none but reduces'. */
  private void giveBack() {
    for (Map.Entry<ContainerId, Attempt> one : running.entrySet()) {
      if (tasks.blocksItself(one.getValue().stage)) {
        running.remove(one.getKey());
        tasks.lost(one.getValue().stage, one.getValue().task);
        releases.add(one.getKey());
        return;
      }
    }
  }

  private void begin(Container container) {
    int stage = container.getPriority().getPriority() == PRIORITIES[0] ? 0 : 1;
    Integer task;
    Attempt attempt;
    boolean gated;
    synchronized (this) {
      asked[stage] = Math.max(0, asked[stage] - 1);
      task = tasks.take(stage);
      if (task == null) {
        releases.add(container.getId());
        return;
      }
      attempt = new Attempt(stage, task, nodes.apply(container.getNodeId()));
      running.put(container.getId(), attempt);
      gated = !tasks.isOpen(stage);
    }
    attempt.node.start(container.getId(), container.getResource(), container.getExecutionType(), container.getVersion(),
        job.stages.get(stage).taskMs[task], gated, this);
    if (gated) {
      openIfAllBeforeAreDone(container.getId(), attempt); // the last map may have ended meanwhile
    }
  }

  private void openIfAllBeforeAreDone(ContainerId container, Attempt attempt) {
    boolean open;
    synchronized (this) {
      open = tasks.isOpen(attempt.stage);
    }
    if (open) {
      attempt.node.open(container);
    }
  }

  @Override
  public void done(ContainerId container) {
    Map<ContainerId, Attempt> waiting = new HashMap<>();
    synchronized (this) {
      Attempt attempt = running.remove(container);
      if (attempt == null) {
        return;
      }
      tasks.ended(attempt.stage);
      if (attempt.stage + 1 < tasks.stages() && tasks.isOpen(attempt.stage + 1)) {
        waiting.putAll(running);
      }
    }
    waiting.forEach((other, attempt) -> attempt.node.open(other));
  }

  /** What the ResourceManager says of ends; of those that ended well the master knew before. */
  private synchronized void completed(ContainerStatus status) {
    Attempt attempt = running.remove(status.getContainerId());
    if (attempt != null) {
      tasks.lost(attempt.stage, attempt.task);
      lost++;
    }
  }

  private void report() throws IOException {
    boolean lively;
    Map<ContainerId, Attempt> told;
    synchronized (this) {
      lively = tasks.stages() > 1 && tasks.done(0) < tasks.total(0);
      told = new HashMap<>(running);
    }
    if (reports == null || clock.now() - reportedMs < (lively ? LIVELY_MS : QUIET_MS)) {
      return;
    }
    reportedMs = clock.now();
    List<JobReport.Task> all = new ArrayList<>();
    told.forEach((container, attempt) -> all.add(taskOf(container, attempt)));
    reports.send(speaker -> reportsOf(all, speaker.getKeyId()));
  }

  /** A reduce's own work is the last third of what MapReduce calls its progress; before, it waits for maps. */
  private JobReport.Task taskOf(ContainerId container, Attempt attempt) {
    float done = (float) attempt.node.done(container);
    if (attempt.stage == 0) {
      return new JobReport.Task(container.getContainerId(), JobReport.Phase.MAP, done, 0);
    }
    boolean open;
    int maps;
    synchronized (this) {
      open = tasks.isOpen(1);
      maps = tasks.done(0);
    }
    return new JobReport.Task(container.getContainerId(), open ? JobReport.Phase.REDUCE : JobReport.Phase.FETCH,
        open ? (2 + done) / 3 : maps / (3f * tasks.total(0)), maps);
  }

  private List<JobReport> reportsOf(List<JobReport.Task> all, int keyId) {
    List<JobReport> parts = new ArrayList<>();
    for (List<JobReport.Task> part : Report.parts(all, JobReport.MOST_TASKS)) {
      synchronized (this) {
        parts.add(new JobReport(self.getApplicationAttemptId().getApplicationId().getClusterTimestamp(),
            self.getApplicationAttemptId().getApplicationId().getId(), self.getApplicationAttemptId().getAttemptId(), keyId,
            reportNumber++, tasks.total(0), tasks.done(0), tasks.total(1), tasks.done(1), part));
      }
    }
    return parts;
  }
}
