package io.hiatus.simulated;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationReportRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetNewApplicationRequest;
import org.apache.hadoop.yarn.api.protocolrecords.SubmitApplicationRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.security.ContainerTokenIdentifier;
import org.apache.hadoop.yarn.server.api.ResourceTracker;
import org.apache.hadoop.yarn.server.api.ServerRMProxy;

/**
 * A workload before a real ResourceManager: hundreds of simulated nodes and the masters of its jobs, all in this JVM. What happens goes
 * to standard output, one JSON object a line: {@code {"event": "nodes"}} once all nodes are there, then for each job
 * {@code {"event": "ended", "name", "app", "state", "submitted_ms", "launched_ms", "finished_ms", "lost"}}, times by the
 * ResourceManager's clock, and last {@code {"event": "over", "pauses"}}.
 */
public final class SimulatedCluster implements ContainerManager.Masters {
  private static final int THREADS = 16;
  private static final long ADVANCE_MS = 100;
  /** Between two calls of a master, as MapReduce's call. */
  private static final long MASTER_MS = 1_000;
  private static final long LOOK_MS = 1_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final YarnConfiguration conf = new YarnConfiguration();
  private final Clock clock = () -> System.nanoTime() / 1_000_000;
  private final ScheduledExecutorService timers = Executors.newScheduledThreadPool(THREADS);
  private final Map<String, SimulatedNode> nodes = new LinkedHashMap<>();
  private final Map<ApplicationId, JobSpec> jobs = new ConcurrentHashMap<>();
  private final Map<ApplicationId, SimulatedMaster> masters = new ConcurrentHashMap<>();
  private final ContainerManager containers = new ContainerManager(conf, this);
  private final ResourceTracker tracker = ServerRMProxy.createRMProxy(conf, ResourceTracker.class);
  private final ApplicationClientProtocol client = ClientRMProxy.createRMProxy(conf, ApplicationClientProtocol.class);
  private final long masterStartMs;
  private final long heartbeatMs;

  private SimulatedCluster(int count, Resource each, boolean suspends, long heartbeatMs, long masterStartMs) throws IOException {
    this.heartbeatMs = heartbeatMs;
    this.masterStartMs = masterStartMs;
    for (int number = 1; number <= count; number++) {
      String host = "127." + (1 + number / 65_536) + "." + number / 256 % 256 + "." + number % 256;
      nodes.put(host, new SimulatedNode(NodeId.newInstance(host, containers.port()), each, suspends, clock));
    }
  }

  /**
   * @param args workload file, number of nodes, memory (MB) and vcores of each, whether they suspend, milliseconds between their
   *     heartbeats, and milliseconds that a master needs to its registration
   */
  public static void main(String[] args) throws Exception {
    List<JobSpec> workload = JobSpec.read(new File(args[0]));
    SimulatedCluster cluster = new SimulatedCluster(Integer.parseInt(args[1]),
        Resource.newInstance(Integer.parseInt(args[2]), Integer.parseInt(args[3])), Boolean.parseBoolean(args[4]), Long.parseLong(args[5]),
        Long.parseLong(args[6]));
    try {
      cluster.run(workload);
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1); // other threads would keep it alive
    }
    System.exit(0);
  }

  private void run(List<JobSpec> workload) throws Exception {
    for (SimulatedNode node : nodes.values()) {
      node.register(tracker);
    }
    int number = 0;
    for (SimulatedNode node : nodes.values()) {
      every(heartbeatMs, heartbeatMs * number++ / nodes.size(), () -> node.beat(tracker));
    }
    every(ADVANCE_MS, 0, () -> nodes.values().forEach(SimulatedNode::advance));
    tell("nodes");
    CountDownLatch left = new CountDownLatch(workload.size());
    for (JobSpec job : workload) {
      timers.schedule(() -> guarded(() -> submit(job, left)), job.atMs, TimeUnit.MILLISECONDS);
    }
    left.await();
    tell("over", "pauses", nodes.values().stream().mapToInt(SimulatedNode::pauses).sum());
  }

  private void submit(JobSpec job, CountDownLatch left) throws YarnException, IOException {
    ApplicationId id = client.getNewApplication(GetNewApplicationRequest.newInstance()).getApplicationId();
    jobs.put(id, job);
    ApplicationSubmissionContext context = ApplicationSubmissionContext.newInstance(id, job.name, job.queue, Priority.newInstance(0),
        ContainerLaunchContext.newInstance(Collections.emptyMap(), Collections.emptyMap(), Collections.emptyList(), null, null, null),
        false, true, 2, Resource.newInstance(job.masterMb, 1), "MAPREDUCE");
    client.submitApplication(SubmitApplicationRequest.newInstance(context));
    every(LOOK_MS, LOOK_MS, () -> {
      ApplicationReport report = client.getApplicationReport(GetApplicationReportRequest.newInstance(id)).getApplicationReport();
      if (report.getFinalApplicationStatus() != FinalApplicationStatus.UNDEFINED && report.getFinishTime() > 0) {
        SimulatedMaster master = masters.remove(id);
        tell("ended", "name", job.name, "app", id.toString(), "state", report.getFinalApplicationStatus().toString(),
            "submitted_ms", report.getStartTime(), "launched_ms", report.getLaunchTime(), "finished_ms", report.getFinishTime(),
            "lost", master == null ? 0 : master.lost());
        left.countDown();
        throw new Over();
      }
    });
  }

  @Override
  public void start(ContainerTokenIdentifier container, Credentials credentials) throws IOException, InterruptedException {
    ContainerId id = container.getContainerID();
    ApplicationId app = id.getApplicationAttemptId().getApplicationId();
    SimulatedNode node = nodes.get(container.getNmHostAddress().replaceFirst(":\\d+$", ""));
    SimulatedMaster master = new SimulatedMaster(conf, jobs.get(app), id, credentials, at -> nodes.get(at.getHost()), clock);
    masters.put(app, master);
    node.start(id, container.getResource(), container.getExecutionType(), container.getVersion(), 0, true, ended -> { });
    timers.schedule(() -> guarded(() -> {
      master.register(node.id.getHost());
      every(MASTER_MS, 0, () -> {
        if (master.step()) {
          node.end(id, ContainerExitStatus.SUCCESS);
          throw new Over();
        }
      });
    }), masterStartMs, TimeUnit.MILLISECONDS);
  }

  @Override
  public void stop(ContainerId container) {
    nodes.values().forEach(node -> node.end(container, ContainerExitStatus.KILLED_BY_APPMASTER));
  }

  /** Something that may fail. */
  private interface Step {
    void run() throws YarnException, IOException;
  }

  /** What is done again and again has nothing more to do. */
  private static final class Over extends RuntimeException {
    private static final long serialVersionUID = 1;

    Over() {
      super(null, null, false, false);
    }
  }

  private void every(long periodMs, long firstMs, Step step) {
    timers.scheduleAtFixedRate(() -> guarded(step), firstMs, periodMs, TimeUnit.MILLISECONDS);
  }

  /** A failure ends all: nothing that is measured after it would mean anything. */
  private static void guarded(Step step) {
    try {
      step.run();
    } catch (Over e) {
      throw e;
    } catch (Exception | Error e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  private static synchronized void tell(String event, Object... more) throws IOException {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("event", event);
    for (int i = 0; i < more.length; i += 2) {
      line.put(more[i].toString(), more[i + 1]);
    }
    System.out.println(JSON.writeValueAsString(line));
  }
}
