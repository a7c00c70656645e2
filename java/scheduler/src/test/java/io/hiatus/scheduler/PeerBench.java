package io.hiatus.scheduler;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.hiatus.scheduler.PeerLoad.Want;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.engine.Engine;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.RMContextImpl;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.MemoryRMStateStore;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.slf4j.event.Level;

/**
 * Measures one scheduler under one load through its interface alone; scripts/bench peers runs it for Hiatus and
 * CapacityScheduler in turns. Times are CPU times, so that other work on the machine matters little.
 *
 * <p>Arguments: scheduler=CLASS, load=churn|full|limited|fragmented|restart|morning, nodes=, slots=, apps=, fill= (what
 * applications want, in percent of the cluster), seconds= (CPU time of measuring), profile=true|false (what the
 * time is spent on, at some cost), out=FILE (JSON).
 */
public final class PeerBench implements AutoCloseable {
  private static final int QUEUES = 4;
  /** Rounds before measuring: containers' ends are spread by then, and the code is compiled. */
  private static final int WARMUP_ROUNDS = 2 * PeerLoad.LIFE;
  private static final int LEAST_ROUNDS = 3;
  /** The small asks of a fragmented cluster come when it has filled. */
  private static final int FILLED_ROUNDS = 10;
  /** Where rounds are few they come at the pace of nodes' heartbeats, for what a scheduler does by the clock. */
  private static final long PACE_MS = 1000;
  /** A scheduler that gives out nothing for so many of these is done, or stuck. */
  private static final int PATIENCE_ROUNDS = 10;
  private static final int BIG_MB = 3 * BenchCluster.TASK_MB;

  private final String kind;
  private final int nodes;
  private final int slots;
  private final int appCount;
  private final int fill;
  private final int seconds;
  private final boolean profile;
  private final MockRM rm;
  private final PeerLoad load;
  private final HoldMeter holds;
  private final Map<String, Object> result = new LinkedHashMap<>();
  private Map<String, Long> threadsBefore;
  private long wallBefore;

  PeerBench(Class<? extends ResourceScheduler> scheduler, String kind, int nodes, int slots, int apps, int fill, int seconds,
      boolean profile) throws Exception {
    this.kind = kind;
    this.nodes = nodes;
    this.slots = slots;
    this.appCount = apps;
    this.fill = fill;
    this.seconds = seconds;
    this.profile = profile;
    HoldMeter[] installed = new HoldMeter[1];
    rm = new MockRM(configuration(scheduler)) {
      @Override
      protected ResourceScheduler createScheduler() {
        ResourceScheduler created = super.createScheduler();
        try {
          installed[0] = HoldMeter.install((AbstractYarnScheduler<?, ?>) created);
        } catch (ReflectiveOperationException e) {
          throw new IllegalStateException("the scheduler's lock is not where Hadoop 3.4 has it", e);
        }
        return created;
      }
    };
    holds = installed[0];
    GenericTestUtils.setRootLogLevel(Level.ERROR);
    rm.start();
    load = new PeerLoad(rm, QUEUES, kind.equals("limited") ? 2 : 7);
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, String> options = new HashMap<>();
    for (String argument : arguments) {
      String[] pair = argument.split("=", 2);
      options.put(pair[0], pair[1]);
    }
    // Not otherwise: threads of the ResourceManager's would keep the JVM.
    int code = 1;
    try (PeerBench bench = new PeerBench(
        Class.forName(options.get("scheduler")).asSubclass(ResourceScheduler.class), options.get("load"),
        number(options, "nodes"), number(options, "slots"), number(options, "apps"), number(options, "fill"),
        number(options, "seconds"), Boolean.parseBoolean(options.get("profile")))) {
      new ObjectMapper().writeValue(new File(options.get("out")), bench.run());
      code = 0;
    } catch (Exception | Error e) {
      e.printStackTrace();
    }
    Runtime.getRuntime().halt(code);
  }

  private static int number(Map<String, String> options, String name) {
    return Integer.parseInt(options.get(name));
  }

  private Configuration configuration(Class<? extends ResourceScheduler> scheduler) {
    Configuration conf = BenchCluster.configuration(scheduler);
    conf.set(HiatusConfiguration.MODE, "suspend");
    conf.set(HiatusConfiguration.PREFIX + "policy", "hfsp");
    MockCluster.queues(conf, "root", "q0", 25, "q1", 25, "q2", 25, "q3", 25);
    for (int i = 0; i < QUEUES; i++) {
      conf.set(MockCluster.queue("root.q" + i, "maximum-capacity"), "100");
      // Two users with a quarter each leave half of the queue free; otherwise nobody is limited.
      conf.set(MockCluster.queue("root.q" + i, "user-limit-factor"), kind.equals("limited") ? "0.25" : "1000");
    }
    if (kind.equals("restart")) {
      conf.set(YarnConfiguration.RM_STORE, MemoryRMStateStore.class.getName());
      conf.setBoolean(YarnConfiguration.RECOVERY_ENABLED, true);
      conf.setBoolean(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_ENABLED, true);
      // What runs has ids of the epoch before.
      conf.setLong(YarnConfiguration.RM_EPOCH, 1);
      // Until it is told that all nodes are there.
      conf.setLong(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_SCHEDULING_WAIT_MS, TimeUnit.DAYS.toMillis(1));
    }
    return conf;
  }

  /** Plays the load; what was measured, by name. */
  Map<String, Object> run() throws Exception {
    switch (kind) {
      case "restart":
        restart();
        break;
      case "morning":
        morning();
        break;
      default:
        steady();
    }
    result.put("live", load.live());
    result.put("asked", load.asked());
    result.put("fault", fault());
    System.gc();
    Runtime jvm = Runtime.getRuntime();
    result.put("heap MiB", (jvm.totalMemory() - jvm.freeMemory()) / (double) (1 << 20));
    return result;
  }

  private IntFunction<Want> wants() {
    int share = Math.max(1, (int) ((long) nodes * slots * fill / 100 / appCount));
    switch (kind) {
      case "churn":
        return i -> Want.ending(share, 0);
      case "full":
        return i -> Want.lasting(share + 10, BenchCluster.TASK_MB);
      case "limited":
      case "morning":
        return i -> Want.lasting(share, BenchCluster.TASK_MB);
      case "restart":
        return i -> Want.lasting(share + 1, BenchCluster.TASK_MB);
      case "fragmented":
        // Nine in ten fill the nodes but for a usual container's room and want one big one more; the tenth comes then.
        int small = (appCount + 9) / 10;
        int big = nodes * (slots * BenchCluster.TASK_MB / BIG_MB) / (appCount - small) + 1;
        return i -> i % 10 == 0 ? Want.ending(Math.max(1, nodes / 10 / small), FILLED_ROUNDS) : Want.lasting(big, BIG_MB);
      default:
        throw new IllegalArgumentException(
            "load=" + kind + ": must be one of churn, full, limited, fragmented, restart, morning");
    }
  }

  /** The same round after round, at full speed. */
  private void steady() throws Exception {
    load.join(nodes, slots, 0);
    load.submit(appCount, wants());
    // Long enough for some plans, which Hiatus makes by the clock.
    rounds(WARMUP_ROUNDS, (seconds + 1) / 2);
    begin();
    long before = load.given();
    int rounds = profiled(() -> rounds(LEAST_ROUNDS, seconds));
    long given = load.given() - before;
    double cpuS = end("") + (load.calls.sum() + load.beats.sum()) / 1e9;
    result.put("rounds", rounds);
    result.put("given", given);
    result.put("containers per CPU s", given / cpuS);
    times("node update", load.beats);
    times("allocate", load.calls);
    longestHold();
  }

  /** Does that work, with samples of what the time goes to if they are wanted. */
  private <T> T profiled(Callable<T> work) throws Exception {
    if (!profile) {
      return work.call();
    }
    try (StackShares stacks = new StackShares()) {
      T done = work.call();
      result.put("shares", stacks.shares());
      return done;
    }
  }

  /** Rounds, until they are so many and this thread has worked for so long. */
  private int rounds(int least, int leastCpuSeconds) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long until = threads.getCurrentThreadCpuTime() + TimeUnit.SECONDS.toNanos(leastCpuSeconds);
    int rounds = 0;
    for (; (rounds < least || threads.getCurrentThreadCpuTime() < until) && fault() == null; rounds++) {
      load.call();
      load.beat();
    }
    return rounds;
  }

  /** All nodes come back with what they run; then every application wants one container more. */
  private void restart() throws Exception {
    load.submit(appCount, wants());
    begin();
    profiled(() -> {
      load.join(nodes, slots + 1, slots);
      rm.drainEvents();
      result.put("ready CPU s", end("ready ") + load.joins.sum() / 1e9);
      ((RMContextImpl) rm.getRMContext()).setSchedulerRecoveryStartAndWaitTime(0);
      return play(1);
    });
    result.put("placed CPU s", end("placed ") + (load.joins.sum() + load.calls.sum() + load.beats.sum()) / 1e9);
    longestHold();
  }

  /** All applications ask an empty cluster at once. */
  private void morning() throws Exception {
    load.join(nodes, slots, 0);
    load.beat();
    rm.drainEvents();
    load.submit(appCount, wants());
    rm.drainEvents();
    begin();
    long wanted = (long) appCount * wants().apply(0).containers;
    profiled(() -> play(wanted));
    result.put("placed CPU s", end("placed ") + (load.calls.sum() + load.beats.sum()) / 1e9);
    result.put("wanted", wanted);
    longestHold();
  }

  /** All ask; then heartbeats until so many containers are fetched, or none was for too long. Returns how many were. */
  private long play(long containers) throws InterruptedException {
    load.call();
    int idle = 0;
    while (true) {
      long begun = System.nanoTime();
      long before = load.given();
      load.beat();
      load.call();
      idle = load.given() > before ? 0 : idle + 1;
      if (load.given() >= containers || idle == PATIENCE_ROUNDS || fault() != null) {
        break;
      }
      Thread.sleep(Math.max(0, PACE_MS - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun)));
    }
    result.put("given", load.given());
    return load.given();
  }

  private void begin() {
    load.resetTimes();
    holds.reset();
    wallBefore = System.nanoTime();
    threadsBefore = threadTimes();
  }

  /** Notes wall time and the other threads' CPU time since {@link #begin}; gives the latter, in s. */
  private double end(String name) {
    Map<String, Long> now = threadTimes();
    double sum = 0;
    Map<String, Double> busy = new HashMap<>();
    for (Map.Entry<String, Long> thread : now.entrySet()) {
      double spent = (thread.getValue() - threadsBefore.getOrDefault(thread.getKey(), 0L)) / 1e9;
      sum += spent;
      busy.merge(thread.getKey(), spent, Double::sum);
    }
    result.put(name + "wall s", (System.nanoTime() - wallBefore) / 1e9);
    result.put(name + "other threads CPU s", sum);
    busy.entrySet().stream().max(Map.Entry.comparingByValue())
        .ifPresent(most -> result.put(name + "busiest thread", most.getKey()));
    return sum;
  }

  /** CPU time in ns of all threads of the JVM's Java code but this one, by name. */
  private static Map<String, Long> threadTimes() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    Map<String, Long> times = new HashMap<>();
    for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (thread != null && thread.getThreadId() != Thread.currentThread().getId()) {
        times.merge(thread.getThreadName(), Math.max(0, threads.getThreadCpuTime(thread.getThreadId())), Long::sum);
      }
    }
    return times;
  }

  private void times(String what, Samples samples) {
    result.put(what + " p50 us", samples.quantile(0.5) / 1e3);
    result.put(what + " p99 us", samples.quantile(0.99) / 1e3);
    result.put(what + " mean us", samples.mean() / 1e3);
  }

  /** The longest that anybody kept the scheduler to himself. */
  private void longestHold() {
    long calls = Math.max(load.calls.max(), Math.max(load.beats.max(), load.joins.max()));
    result.put("longest hold ms", Math.max(calls, holds.longestNanos()) / 1e6);
    result.put("longest hold by", holds.longestNanos() > calls ? holds.longestBy() : "the caller");
  }

  /** Why Hiatus does not do the work itself, or null. */
  private String fault() {
    if (!(rm.getResourceScheduler() instanceof HiatusScheduler)) {
      return null;
    }
    HiatusScheduler scheduler = (HiatusScheduler) rm.getResourceScheduler();
    String fault = scheduler.operatorService().fault();
    return fault != null ? fault : scheduler.yields() ? null : "Hiatus is off";
  }

  @Override
  public void close() {
    rm.stop();
  }
}
