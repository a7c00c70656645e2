package io.hiatus.spark;

import io.hiatus.report.ExecutorReport.Worth;
import io.hiatus.report.StageReport;
import io.hiatus.report.StageReport.Stage;
import io.hiatus.report.StageReporter;
import io.hiatus.report.TaskTimes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.spark.Resubmitted$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerBlockUpdated;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.SparkListenerUnpersistRDD;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.storage.BlockUpdatedInfo;
import org.apache.spark.storage.RDDBlockId;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * Counts the tasks of an application's stages. A job names all its stages when it begins, also those that it will skip because what
 * they would make is there: of these it is known when a stage begins that comes after them.
 */
final class StageListener extends SparkListener implements StageReporter.Source {
  /** Of a stage's tasks the times of so many are kept. */
  private static final int MOST_TIMES = 10_000;

  /** Tasks that are alike. */
  private static final class Tasks {
    final int profile;
    /** Which stages come right before. */
    final Set<Integer> parents;
    boolean begun;
    int all;
    int running;
    int done;
    /** Of those that are done, together, if they are of several stages. */
    long millis;
    /** Of one stage: what its newest tasks took, without what they stood still for; below zero while only that is known of one. */
    final Map<Long, Long> took = new LinkedHashMap<Long, Long>() {
      private static final long serialVersionUID = 1;

      @Override
      protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
        return size() > MOST_TIMES;
      }
    };

    Tasks(int profile, Set<Integer> parents, int all) {
      this.profile = profile;
      this.parents = parents;
      this.all = all;
    }

    static Tasks sum(int profile, Collection<Tasks> parts) {
      Tasks sum = new Tasks(profile, new HashSet<>(), 0);
      parts.forEach(sum::add);
      return sum;
    }

    void add(Tasks other) {
      all += other.all;
      running += other.running;
      done += other.done;
      millis += other.done * other.eachMs();
    }

    /** What one of those that are done takes. */
    long eachMs() {
      long[] known = took.values().stream().mapToLong(Long::longValue).filter(one -> one >= 0).toArray();
      return known.length > 0 ? TaskTimes.meanMs(known) : done > 0 ? millis / done : 0;
    }
  }

  private final int slots;
  private final Executors executors;
  /** Stages that are not over, by their numbers. */
  private final Map<Integer, Tasks> open = new HashMap<>();
  /** The stages of each job that is not over. */
  private final Map<Integer, Set<Integer>> jobs = new HashMap<>();
  /** What is done of all stages that are over, by resource profile. */
  private final Map<Integer, Tasks> over = new TreeMap<>();

  /** @param slots how many tasks an executor runs at a time */
  StageListener(int slots, Executors executors) {
    this.slots = slots;
    this.executors = executors;
  }

  @Override
  public synchronized void onJobStart(SparkListenerJobStart event) {
    Set<Integer> ids = new HashSet<>();
    // Its own accessor returns another class in Scala 2.13 than in 2.12.
    for (Iterator<?> infos = ((Seq<?>) event.productElement(2)).iterator(); infos.hasNext();) {
      StageInfo info = (StageInfo) infos.next();
      ids.add(info.stageId());
      open.computeIfAbsent(info.stageId(), id -> new Tasks(info.resourceProfileId(), parents(info), info.numTasks()));
    }
    jobs.put(event.jobId(), ids);
  }

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted event) {
    StageInfo info = event.stageInfo();
    Tasks stage = open.computeIfAbsent(info.stageId(), id -> new Tasks(info.resourceProfileId(), parents(info), 0));
    stage.begun = true;
    stage.all = stage.done + info.numTasks();
    stage.running = 0;
    skip(stage.parents);
  }

  /** What would come before a stage that begins, and has not begun itself, is not needed. */
  private void skip(Set<Integer> ids) {
    for (int id : ids) {
      Tasks stage = open.get(id);
      if (stage != null && !stage.begun) {
        open.remove(id);
        skip(stage.parents);
      }
    }
  }

  @Override
  public synchronized void onTaskStart(SparkListenerTaskStart event) {
    executors.begins(event.taskInfo().executorId());
    Tasks stage = open.get(event.stageId());
    if (stage != null) {
      stage.running++;
    }
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd event) {
    boolean leavesOutput = event.taskInfo().successful() && "ShuffleMapTask".equals(event.taskType());
    executors.ends(event.taskInfo().executorId(), leavesOutput ? event.stageId() : null);
    Tasks stage = open.get(event.stageId());
    if (stage == null) {
      return;
    }
    if (event.reason() == Resubmitted$.MODULE$) { // it was done, and what it made is lost
      stage.took.remove(event.taskInfo().taskId());
      stage.done = Math.max(0, stage.done - 1);
      return;
    }
    stage.running = Math.max(0, stage.running - 1);
    if (event.taskInfo().successful() && stage.done < stage.all) {
      stage.done++;
      stage.took.merge(event.taskInfo().taskId(), event.taskInfo().duration(), Long::sum);
    }
  }

  @Override
  public synchronized void onStageCompleted(SparkListenerStageCompleted event) {
    close(event.stageInfo().stageId());
  }

  @Override
  public synchronized void onJobEnd(SparkListenerJobEnd event) {
    Set<Integer> ended = jobs.remove(event.jobId());
    if (ended != null) {
      jobs.values().forEach(ended::removeAll);
      ended.forEach(this::close);
    }
  }

  private void close(int id) {
    Tasks stage = open.remove(id);
    if (stage != null && stage.done > 0) {
      stage.all = stage.done;
      stage.running = 0;
      over.computeIfAbsent(stage.profile, profile -> Tasks.sum(profile, new ArrayList<>())).add(stage);
    }
  }

  @Override
  public synchronized void onBlockUpdated(SparkListenerBlockUpdated event) {
    BlockUpdatedInfo block = event.blockUpdatedInfo();
    if (block.blockId().isRDD() && block.storageLevel().isValid()) {
      executors.keeps(block.blockManagerId().executorId(), ((RDDBlockId) block.blockId()).rddId());
    }
  }

  @Override
  public synchronized void onUnpersistRDD(SparkListenerUnpersistRDD event) {
    executors.forget(event.rddId());
  }

  @Override
  public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved event) {
    executors.remove(event.executorId());
  }

  /** An executor said in which container it is. */
  synchronized void runsIn(String executor, long container) {
    executors.runsIn(executor, container);
  }

  /** Outputs of stages count as long as a job runs that has, or had, the stage. */
  @Override
  public synchronized Map<Long, Worth> executors() {
    return executors.worth(jobs.values().stream().flatMap(Set::stream).collect(Collectors.toSet()));
  }

  /** A task of the stage that is done, or is about to be, stood still for so long. */
  synchronized void stoodStill(int id, long task, long millis) {
    Tasks stage = open.get(id);
    if (stage != null) {
      stage.took.merge(task, -millis, Long::sum);
    }
  }

  /** A program may always have more jobs. */
  @Override
  public boolean more() {
    return true;
  }

  /** All that is known, no more than fits into a report. What is over, and what has not begun, is told together. */
  @Override
  public synchronized List<Stage> stages() {
    List<Tasks> told = new ArrayList<>(over.values());
    told.addAll(together(open.values().stream().filter(stage -> !stage.begun).collect(Collectors.toList())));
    List<Tasks> begun = open.values().stream().filter(stage -> stage.begun)
        .sorted(Comparator.comparing((Tasks stage) -> stage.all).reversed()).collect(Collectors.toList());
    int alone = Math.min(begun.size(), Math.max(0, StageReport.MOST_STAGES / 2 - told.size()));
    told.addAll(begun.subList(0, alone));
    told.addAll(together(begun.subList(alone, begun.size())));
    return told.stream().limit(StageReport.MOST_STAGES).map(this::told).collect(Collectors.toList());
  }

  private static List<Tasks> together(List<Tasks> stages) {
    Map<Integer, List<Tasks>> byProfile = stages.stream().collect(Collectors.groupingBy(stage -> stage.profile, TreeMap::new, Collectors.toList()));
    return byProfile.entrySet().stream().map(one -> Tasks.sum(one.getKey(), one.getValue())).collect(Collectors.toList());
  }

  private Stage told(Tasks stage) {
    return new Stage(stage.profile, stage.all, Math.min(stage.running, stage.all - stage.done), stage.done, stage.eachMs(), slots);
  }

  /** The stages right before; by reflection, because that method returns another class in Scala 2.13 than in 2.12. */
  private static Set<Integer> parents(StageInfo info) {
    Set<Integer> parents = new HashSet<>();
    try {
      Iterator<?> ids = ((Seq<?>) StageInfo.class.getMethod("parentIds").invoke(info)).iterator();
      while (ids.hasNext()) {
        parents.add((Integer) ids.next());
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this Spark's StageInfo has no parentIds", e);
    }
    return parents;
  }
}
