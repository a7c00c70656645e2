package io.hiatus.scheduler;

import io.hiatus.scheduler.bridge.Native;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What all threads that run spend their time on, by samples of their stacks: Hiatus' own code, its library, or which work of
 * CapacityScheduler. The innermost of these that a stack is in counts. Samples are taken at the JVM's safepoints: they tell
 * parts as large as these apart, and no lines.
 */
final class StackShares implements AutoCloseable {
  private static final String STOCK = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.";
  private static final long PERIOD_MS = 5;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** Methods, as class.method after {@link #STOCK}, and what they are part of. */
  private static final Map<String, String> PARTS = new LinkedHashMap<>();

  static {
    PARTS.put("capacity.CapacityScheduler.tryCommit", "stock: commit of a container");
    PARTS.put("AbstractYarnScheduler.completedContainer", "stock: a container's end");
    PARTS.put("capacity.CapacityScheduler.completedContainerInternal", "stock: a container's end");
    PARTS.put("AbstractYarnScheduler.updateCompletedContainers", "stock: a container's end");
    PARTS.put("AbstractYarnScheduler.updateNewContainerInfo", "stock: a container's launch");
    PARTS.put("capacity.CapacityScheduler.allocate", "stock: a master's call");
    PARTS.put("capacity.CapacityScheduler.allocateContainersToNode", "stock: its search for whom to serve");
    PARTS.put("capacity.AbstractParentQueue.updateClusterResource", "stock: headroom of every application, for a node's sake");
    PARTS.put("AbstractYarnScheduler.recoverContainersOnNode", "stock: a container is found");
    PARTS.put("capacity.CapacityScheduler.addNode", "stock: a node joins");
    PARTS.put("capacity.CapacityScheduler.updateNodeLabelsAndQueueResource", "stock: a node joins");
    PARTS.put("capacity.CapacityScheduler.nodeUpdate", "stock: the rest of a node's update");
    PARTS.put("capacity.CapacityScheduler.handle", "stock: the rest of a node's update");
  }

  private final Map<String, Integer> counts = new TreeMap<>();
  private final Thread sampler = new Thread(this::sample, "StackShares");

  StackShares() {
    sampler.start();
  }

  private void sample() {
    while (!Thread.currentThread().isInterrupted()) {
      for (ThreadInfo thread : THREADS.dumpAllThreads(false, false)) {
        String part = thread.getThreadState() == Thread.State.RUNNABLE ? part(thread.getStackTrace()) : null;
        if (part != null) {
          counts.merge(part, 1, Integer::sum);
        }
      }
      try {
        Thread.sleep(PERIOD_MS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Ends; shares of all samples, 0 to 1, by what they were for. */
  Map<String, Double> shares() throws InterruptedException {
    close();
    sampler.join();
    double all = counts.values().stream().mapToInt(Integer::intValue).sum();
    Map<String, Double> shares = new LinkedHashMap<>();
    counts.forEach((part, count) -> shares.put(part, count / all));
    return shares;
  }

  /** What the innermost known frame is part of; null for the bench's own work. */
  private static String part(StackTraceElement[] stack) {
    for (StackTraceElement frame : stack) {
      String owner = frame.getClassName();
      String method = owner + "." + frame.getMethodName();
      if (owner.equals(Native.class.getName())) {
        return "Hiatus: library";
      }
      if (owner.matches("io\\.hiatus\\.scheduler\\.(Peer|Bench|Samples|StackShares).*")) {
        return null;
      }
      if (owner.startsWith("io.hiatus.") && !owner.equals(HoldMeter.class.getName())) {
        return "Hiatus: Java";
      }
      String part = method.startsWith(STOCK) ? PARTS.get(method.substring(STOCK.length())) : null;
      if (part != null) {
        return part;
      }
    }
    return null;
  }

  @Override
  public void close() {
    sampler.interrupt();
  }
}
