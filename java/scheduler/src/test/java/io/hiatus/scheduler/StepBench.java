package io.hiatus.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.slf4j.event.Level;

/**
 * What a step costs in the ResourceManager, and which share of it is marshalling; beside it CapacityScheduler under the
 * same load. Heartbeats come at the pace of a real cluster, one per node and second.
 *
 * <p>Arguments: scheduler=hiatus|capacity, nodes=, slots=, jobs=, warmup= and seconds= (real time), out=FILE (appended to).
 */
public final class StepBench {
  /** What each step took; the fields' order is that of the table. */
  private static final class StepTimes extends HiatusMetrics {
    final Samples read = new Samples();
    final Samples core = new Samples();
    final Samples apply = new Samples();
    final Samples bytes = new Samples();
    volatile boolean recording;

    @Override
    public void stepped(long readNanos, long coreNanos, long applyNanos, int factBytes) {
      super.stepped(readNanos, coreNanos, applyNanos, factBytes);
      if (recording) {
        read.add(readNanos);
        core.add(coreNanos);
        apply.add(applyNanos);
        bytes.add(factBytes);
      }
    }
  }

  /** Hiatus, with an eye on its steps. */
  public static final class Measured extends HiatusScheduler {
    private final StepTimes times = new StepTimes();

    @Override
    HiatusMetrics createMetrics() {
      return times;
    }
  }

  private final List<String> lines = new ArrayList<>();
  private int nodes = 1_000;
  private int slots = 8;
  private int jobs = 500;
  private int warmup = 30;
  private int seconds = 30;
  private boolean hiatus = true;
  private String out;

  private StepBench() {
  }

  public static void main(String[] arguments) throws Exception {
    StepBench bench = new StepBench();
    for (String argument : arguments) {
      bench.set(argument);
    }
    try {
      bench.run();
      System.exit(0);
    } catch (Exception | Error e) {
      // The ResourceManager's threads would keep the JVM.
      e.printStackTrace();
      System.exit(1);
    }
  }

  private void set(String argument) {
    String[] pair = argument.split("=", 2);
    switch (pair[0]) {
      case "scheduler":
        hiatus = pair[1].equals("hiatus");
        break;
      case "nodes":
        nodes = Integer.parseInt(pair[1]);
        break;
      case "slots":
        slots = Integer.parseInt(pair[1]);
        break;
      case "jobs":
        jobs = Integer.parseInt(pair[1]);
        break;
      case "warmup":
        warmup = Integer.parseInt(pair[1]);
        break;
      case "seconds":
        seconds = Integer.parseInt(pair[1]);
        break;
      case "out":
        out = pair[1];
        break;
      default:
        throw new IllegalArgumentException(argument + ": known are scheduler, nodes, slots, jobs, warmup, seconds, out");
    }
  }

  private void run() throws Exception {
    Class<? extends ResourceScheduler> scheduler = hiatus ? Measured.class : CapacityScheduler.class;
    Configuration conf = BenchCluster.configuration(scheduler);
    MockCluster.queues(conf, "root", "default", 100);
    MockRM rm = new MockRM(conf);
    GenericTestUtils.setRootLogLevel(Level.ERROR);
    rm.start();
    BenchLoad load = new BenchLoad(rm, nodes, slots, jobs);
    StepTimes times = hiatus ? ((Measured) rm.getResourceScheduler()).times : null;

    play(load, warmup, new Samples(), new Samples());
    if (hiatus) {
      times.recording = true;
    }
    Samples beats = new Samples();
    Samples calls = new Samples();
    long given = load.given();
    com.sun.management.OperatingSystemMXBean machine =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long processCpu = machine.getProcessCpuTime();
    play(load, seconds, beats, calls);
    processCpu = machine.getProcessCpuTime() - processCpu;
    given = load.given() - given;

    say("%s, %d nodes of %d containers, %d jobs in memory, %d s at 1 heartbeat per node and second", scheduler
        .getSuperclass() == HiatusScheduler.class ? "Hiatus" : "CapacityScheduler", nodes, slots, jobs, seconds);
    say("  made %s by scripts/bench step; Java %s, %d processors, load %.1f (other work on the machine slows this)",
        Instant.now(), System.getProperty("java.version"), machine.getAvailableProcessors(), machine.getSystemLoadAverage());
    say("  %-48s %9s %9s %9s", "", "p50", "p99", "mean");
    row("heartbeat of a node, CPU time of its thread, us", beats, 1e3);
    row("call of a master, CPU time of its thread, us", calls, 1e3);
    if (hiatus) {
      Measured measured = (Measured) rm.getResourceScheduler();
      if (measured.operatorService().fault() != null) {
        throw new IllegalStateException("fell back to stock: " + measured.operatorService().fault());
      }
      steps(times);
    }
    say("  %d containers given out; CPU time of the whole process: %.0f us per container", given,
        processCpu / 1e3 / given);
    if (out != null) {
      new File(out).getAbsoluteFile().getParentFile().mkdirs();
      Files.write(Paths.get(out), lines, UTF_8, java.nio.file.StandardOpenOption.CREATE,
          java.nio.file.StandardOpenOption.APPEND);
    }
  }

  /** Heartbeats and calls at their pace; one that comes late is not left out. */
  private static void play(BenchLoad load, int seconds, Samples beats, Samples calls) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long begun = System.nanoTime();
    long pause = TimeUnit.SECONDS.toNanos(1) / load.nodes();
    double callsPerBeat = (double) load.jobs() / load.nodes();
    double due = 0;
    int call = 0;
    for (int beat = 0; beat < seconds * load.nodes(); beat++) {
      int node = beat % load.nodes();
      load.work(node);
      long cpu = threads.getCurrentThreadCpuTime();
      load.beat(node);
      beats.add(threads.getCurrentThreadCpuTime() - cpu);
      for (due += callsPerBeat; due >= 1; due--) {
        cpu = threads.getCurrentThreadCpuTime();
        load.call(call++ % load.jobs());
        calls.add(threads.getCurrentThreadCpuTime() - cpu);
      }
      LockSupport.parkNanos(begun + (beat + 1) * pause - System.nanoTime());
    }
  }

  private void steps(StepTimes times) {
    row("step: all of the next three, us", sum(times.read, times.core, times.apply), 1e3);
    row("  reading the asks that changed, us", times.read, 1e3);
    row("  in the library, us", times.core, 1e3);
    row("  CapacityScheduler carrying out the answers, us", times.apply, 1e3);
    row("  bytes of facts", times.bytes, 1);
    double whole = times.read.sum() + times.core.sum() + times.apply.sum();
    double perByte = crossingNanosPerByte();
    double marshalling = times.read.sum() + perByte * times.bytes.sum();
    say("  %d steps; marshalling (reading asks, and %.2f ns per byte of facts written and parsed) is %.1f %% of their time",
        times.core.count(), perByte, 100 * marshalling / whole);
  }

  /** Writing facts and parsing them: steps of heartbeats of nodes of which the core knows nothing, so that nothing else happens. */
  private static double crossingNanosPerByte() {
    long core = Native.create("{}");
    ByteBuffer answers = FactBuffer.fresh(1 << 12);
    FactBuffer facts = new FactBuffer();
    long spent = 0;
    long bytes = 0;
    for (int round = 0; round < 4_000; round++) {
      long begun = System.nanoTime();
      facts.clear();
      for (int i = 0; i < 250; i++) {
        Records.putHeartbeat(facts, i, 0, 0);
      }
      Native.step(core, round, facts.bytes(), facts.length(), answers);
      if (round >= 2_000) {
        spent += System.nanoTime() - begun;
        bytes += facts.length();
      }
    }
    Native.destroy(core);
    return (double) spent / bytes;
  }

  private static Samples sum(Samples... parts) {
    Samples sums = new Samples();
    for (int i = 0; i < parts[0].count(); i++) {
      long sum = 0;
      for (Samples part : parts) {
        sum += part.get(i);
      }
      sums.add(sum);
    }
    return sums;
  }

  private void row(String what, Samples samples, double unit) {
    say("  %-48s %9.1f %9.1f %9.1f", what, samples.quantile(0.5) / unit, samples.quantile(0.99) / unit,
        samples.mean() / unit);
  }

  private void say(String format, Object... values) {
    String line = String.format(Locale.ROOT, format, values);
    lines.add(line);
    System.out.println(line);
  }
}
