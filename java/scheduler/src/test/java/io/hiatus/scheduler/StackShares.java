package io.hiatus.scheduler;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * What this thread spends its time on, by samples of its stack (Java Flight Recorder): Hiatus' own code, its library, or which
 * work of CapacityScheduler. The innermost of these that a stack is in counts.
 */
final class StackShares implements AutoCloseable {
  private static final String STOCK = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.";
  private static final List<String> SAMPLES = Arrays.asList("jdk.ExecutionSample", "jdk.NativeMethodSample");
  private static final Duration PERIOD = Duration.ofMillis(10);

  /** Methods, as class.method after {@link #STOCK}, and what they are part of. */
  private static final Map<String, String> PARTS = new LinkedHashMap<>();

  static {
    PARTS.put("capacity.CapacityScheduler.tryCommit", "stock: commit of a container");
    PARTS.put("AbstractYarnScheduler.completedContainer", "stock: a container's end");
    PARTS.put("AbstractYarnScheduler.updateCompletedContainers", "stock: a container's end");
    PARTS.put("AbstractYarnScheduler.updateNewContainerInfo", "stock: a container's launch");
    PARTS.put("capacity.CapacityScheduler.allocate", "stock: a master's call");
    PARTS.put("capacity.CapacityScheduler.allocateContainersToNode", "stock: its search for whom to serve");
    PARTS.put("capacity.CapacityScheduler.nodeUpdate", "stock: the rest of a node's update");
    PARTS.put("capacity.CapacityScheduler.handle", "stock: the rest of a node's update");
  }

  private final String thread = Thread.currentThread().getName();
  private final Recording recording = new Recording();

  StackShares() {
    SAMPLES.forEach(event -> recording.enable(event).withPeriod(PERIOD));
    recording.start();
  }

  /** Shares of the samples so far, 0 to 1, by what they were for. */
  Map<String, Double> shares() throws IOException {
    Path file = Files.createTempFile("stacks", ".jfr");
    try {
      recording.dump(file);
      Map<String, Integer> counts = new TreeMap<>();
      int all = 0;
      for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
        if (SAMPLES.contains(event.getEventType().getName()) && event.getStackTrace() != null
            && thread.equals(event.getThread("sampledThread").getJavaName())) {
          String part = part(event.getStackTrace().getFrames());
          if (part != null) {
            counts.merge(part, 1, Integer::sum);
            all++;
          }
        }
      }
      Map<String, Double> shares = new LinkedHashMap<>();
      for (Map.Entry<String, Integer> count : counts.entrySet()) {
        shares.put(count.getKey(), count.getValue() / (double) all);
      }
      return shares;
    } finally {
      Files.delete(file);
    }
  }

  /** What the innermost known frame is part of; null for the bench's own work. */
  private static String part(List<RecordedFrame> frames) {
    for (RecordedFrame frame : frames) {
      String owner = frame.getMethod().getType().getName();
      String method = owner + "." + frame.getMethod().getName();
      if (owner.equals(Native.class.getName())) {
        return "Hiatus: library";
      }
      if (owner.matches("io\\.hiatus\\.scheduler\\.(Peer|Bench|Samples).*")) {
        return null;
      }
      if (owner.startsWith("io.hiatus.")) {
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
    recording.close();
  }
}
