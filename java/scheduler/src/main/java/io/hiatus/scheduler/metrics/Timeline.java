package io.hiatus.scheduler.metrics;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** What ran, stood still and was changed in the last minutes, by queue. Once a second; the oldest goes when the newest comes. */
public final class Timeline {
  /** Ten minutes. */
  static final int MOST_SAMPLES = 600;
  /** The first two are of that moment, the others of what happened since the sample before. */
  private static final String[] SERIES = {"running", "suspended", "suspensions", "resumptions", "kills"};

  private static final class Sample {
    final long ms;
    final String[] queues;
    /** All series of the first queue, of the second, and so on. */
    final int[] numbers;

    Sample(long ms, String[] queues, int[] numbers) {
      this.ms = ms;
      this.queues = queues;
      this.numbers = numbers;
    }
  }

  private final Deque<Sample> samples = new ArrayDeque<>();
  private final Map<String, long[]> countedBefore = new HashMap<>();
  private String[] queuesBefore = {};

  /** Notes how the queues are at that moment, in ms since 1970. */
  public synchronized void add(long ms, Map<String, QueueMetrics> byPath) {
    String[] queues = byPath.keySet().toArray(new String[0]);
    queuesBefore = Arrays.equals(queues, queuesBefore) ? queuesBefore : queues; // one array for all samples that have the same
    countedBefore.keySet().retainAll(byPath.keySet());
    int[] numbers = new int[queuesBefore.length * SERIES.length];
    int at = 0;
    for (String path : queuesBefore) {
      QueueMetrics queue = byPath.get(path);
      long[] counted = {queue.suspended.value(), queue.resumed.value(), queue.killed.value()};
      long[] before = countedBefore.getOrDefault(path, counted);
      numbers[at++] = (int) queue.running.value();
      numbers[at++] = (int) queue.suspendedNow.value();
      for (int i = 0; i < counted.length; i++) {
        numbers[at++] = (int) Math.max(0, counted[i] - before[i]);
      }
      countedBefore.put(path, counted);
    }
    samples.addLast(new Sample(ms, queuesBefore, numbers));
    if (samples.size() > MOST_SAMPLES) {
      samples.removeFirst();
    }
  }

  /** The samples of one queue, or of all together (null), as columns of equal length; and the queues that there are. */
  public ObjectNode of(String queueOrNull) {
    ObjectNode told = JsonNodeFactory.instance.objectNode();
    ArrayNode times = told.putArray("times");
    ArrayNode[] columns = Arrays.stream(SERIES).map(told::putArray).toArray(ArrayNode[]::new);
    TreeSet<String> queues = new TreeSet<>();
    String[] before = null;
    for (Sample sample : copy()) {
      int[] sums = new int[SERIES.length];
      for (int i = 0; i < sample.numbers.length; i++) {
        String queue = sample.queues[i / SERIES.length];
        sums[i % SERIES.length] += queueOrNull == null || queue.equals(queueOrNull) ? sample.numbers[i] : 0;
      }
      times.add(sample.ms);
      for (int i = 0; i < SERIES.length; i++) {
        columns[i].add(sums[i]);
      }
      if (sample.queues != before) {
        queues.addAll(Arrays.asList(sample.queues));
        before = sample.queues;
      }
    }
    ArrayNode names = told.putArray("queues");
    queues.forEach(names::add);
    return told;
  }

  /** Whoever adds one holds the scheduler's lock, and must not wait for sums. */
  private synchronized List<Sample> copy() {
    return new ArrayList<>(samples);
  }
}
