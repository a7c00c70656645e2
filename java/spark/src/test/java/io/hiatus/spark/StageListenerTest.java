package io.hiatus.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.hiatus.report.StageReport;
import io.hiatus.report.StageReport.Stage;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.Resubmitted$;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.scheduler.JobSucceeded$;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.junit.Test;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/** What a listener bus says of jobs, stages and tasks, and what is counted of it. */
public class StageListenerTest {
  private final StageListener listener = new StageListener(2, new Executors(false));
  /** Tasks that ended; their numbers count on. */
  private long tasks;

  private static <T> Seq<T> seq(List<T> list) {
    return JavaConverters.asScalaBuffer(list).toSeq();
  }

  private static StageInfo info(int id, int tasks, Integer... parents) {
    StageInfo info = mock(StageInfo.class);
    when(info.stageId()).thenReturn(id);
    when(info.numTasks()).thenReturn(tasks);
    when(info.parentIds()).thenReturn(JavaConverters.<Object>asScalaBuffer(Arrays.<Object>asList((Object[]) parents)).toSeq());
    return info;
  }

  private void job(int id, StageInfo... stages) {
    listener.onJobStart(new SparkListenerJobStart(id, 0, seq(Arrays.asList(stages)), null));
  }

  private void begins(StageInfo stage) {
    listener.onStageSubmitted(new SparkListenerStageSubmitted(stage, null));
  }

  /** The only stage of the only job, with so many tasks; it has begun. */
  private StageInfo runs(int tasks) {
    StageInfo stage = info(0, tasks);
    job(0, stage);
    begins(stage);
    return stage;
  }

  private void ends(StageInfo stage) {
    listener.onStageCompleted(new SparkListenerStageCompleted(stage));
  }

  private void start(int stage, int tasks) {
    IntStream.range(0, tasks).forEach(task -> listener.onTaskStart(new SparkListenerTaskStart(stage, 0, mock(TaskInfo.class))));
  }

  private void end(int stage, long millis, boolean success) {
    end(stage, millis, success, Success$.MODULE$);
  }

  private void end(int stage, long millis, boolean success, TaskEndReason reason) {
    TaskInfo task = mock(TaskInfo.class);
    when(task.taskId()).thenReturn(reason == Success$.MODULE$ ? tasks++ : tasks - 1);
    when(task.duration()).thenReturn(millis);
    when(task.successful()).thenReturn(success);
    listener.onTaskEnd(new SparkListenerTaskEnd(stage, 0, "ResultTask", reason, task, null, null));
  }

  private void done(int stage, int tasks, long millis) {
    start(stage, tasks);
    IntStream.range(0, tasks).forEach(task -> end(stage, millis, true));
  }

  /** Tasks, those that run and are done, and what each of these took. */
  private List<String> told() {
    return listener.stages().stream().map(stage -> stage.tasks + " " + stage.running + " " + stage.done + " " + stage.eachMs)
        .collect(Collectors.toList());
  }

  @Test
  public void tasksOfAJobAreKnownFromItsBeginning() {
    StageInfo first = info(0, 200);
    StageInfo last = info(1, 8, 0);
    job(0, last, first);
    assertEquals(Arrays.asList("208 0 0 0"), told());
    begins(first);
    start(0, 6);
    end(0, 1_000, true);
    end(0, 2_000, true);
    end(0, 9_000, false);
    assertEquals("what failed is to be done again", Arrays.asList("8 0 0 0", "200 3 2 1500"), told());
    assertEquals(2, listener.stages().get(0).slots);
    done(0, 198, 1_500);
    ends(first);
    assertEquals(Arrays.asList("200 0 200 1500", "8 0 0 0"), told());
    begins(last);
    done(1, 8, 3_000);
    ends(last);
    listener.onJobEnd(new SparkListenerJobEnd(0, 9, JobSucceeded$.MODULE$));
    assertEquals(Arrays.asList("208 0 208 1557"), told());
  }

  @Test
  public void stagesThatAreSkippedAreNotToDo() {
    StageInfo[] stages = {info(0, 100), info(1, 100, 0), info(2, 10, 1), info(3, 50)};
    job(0, stages);
    assertEquals(Arrays.asList("260 0 0 0"), told());
    begins(stages[2]);
    assertEquals("what comes before it is there", Arrays.asList("50 0 0 0", "10 0 0 0"), told());
    listener.onJobEnd(new SparkListenerJobEnd(0, 9, JobSucceeded$.MODULE$));
    assertEquals(Arrays.asList(), told());
  }

  @Test
  public void aStageThatTwoJobsNeedIsCountedOnce() {
    StageInfo shared = info(0, 100);
    job(0, shared, info(1, 10, 0));
    job(1, shared, info(2, 20, 0));
    assertEquals(Arrays.asList("130 0 0 0"), told());
    listener.onJobEnd(new SparkListenerJobEnd(1, 9, JobSucceeded$.MODULE$));
    assertEquals(Arrays.asList("110 0 0 0"), told());
  }

  @Test
  public void whatIsLostIsDoneAgain() {
    StageInfo stage = runs(10);
    done(0, 4, 1_000);
    end(0, 1_000, true, Resubmitted$.MODULE$);
    assertEquals(Arrays.asList("10 0 3 1000"), told());
    done(0, 7, 1_000);
    ends(stage);
    StageInfo again = info(0, 2); // a later attempt, of what an executor took with it
    begins(again);
    assertEquals(Arrays.asList("10 0 10 1000", "2 0 0 0"), told());
  }

  @Test
  public void secondAttemptsOfATaskAreNoMoreTasks() {
    runs(2);
    start(0, 4);
    assertEquals(Arrays.asList("2 2 0 0"), told());
    IntStream.range(0, 4).forEach(task -> end(0, 1_000, true));
    assertEquals(Arrays.asList("2 0 2 1000"), told());
  }

  @Test
  public void timeInWhichAnExecutorStoodStillIsNoWork() {
    StageInfo stage = runs(2);
    done(0, 1, 61_000);
    listener.stoodStill(0, 0, 60_000);
    assertEquals(Arrays.asList("2 0 1 1000"), told());
    listener.stoodStill(0, 1, 30_000); // before the driver heard of the task's end
    assertEquals(Arrays.asList("2 0 1 1000"), told());
    done(0, 1, 31_000);
    assertEquals(Arrays.asList("2 0 2 1000"), told());
    ends(stage);
    listener.stoodStill(0, 1, 1_000); // of a stage that is over nothing is left
    assertEquals(Arrays.asList("2 0 2 1000"), told());
  }

  @Test
  public void theFirstTasksOfAnExecutorThatBeginItDoNotTellWhatTheOthersTake() {
    runs(100);
    done(0, 2, 4_000);
    assertEquals(Arrays.asList("100 0 2 4000"), told());
    done(0, 8, 200);
    assertEquals("they count for three ordinary ones", Arrays.asList("100 0 10 280"), told());
  }

  @Test
  public void allIsToldInOneReport() {
    StageInfo[] stages = IntStream.range(0, 500).mapToObj(id -> info(id, 2)).toArray(StageInfo[]::new);
    job(0, stages);
    IntStream.range(0, 400).forEach(id -> begins(stages[id]));
    IntStream.range(0, 400).forEach(id -> done(id, 1, 100));
    List<Stage> told = listener.stages();
    assertTrue(told.size() <= StageReport.MOST_STAGES);
    assertEquals(1_000, told.stream().mapToInt(stage -> stage.tasks).sum());
    assertEquals(400, told.stream().mapToInt(stage -> stage.done).sum());
  }
}
