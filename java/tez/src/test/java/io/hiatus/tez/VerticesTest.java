package io.hiatus.tez;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.hiatus.report.ExecutorReport.Worth;
import io.hiatus.report.StageReport;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.tez.dag.app.AppContext;
import org.apache.tez.dag.app.dag.DAG;
import org.apache.tez.dag.app.dag.Task;
import org.apache.tez.dag.app.dag.TaskAttempt;
import org.apache.tez.dag.app.dag.Vertex;
import org.apache.tez.dag.app.rm.container.AMContainer;
import org.apache.tez.dag.app.rm.container.AMContainerMap;
import org.apache.tez.dag.app.rm.container.AMContainerState;
import org.apache.tez.dag.records.TezDAGID;
import org.apache.tez.dag.records.TezTaskID;
import org.apache.tez.dag.records.TezVertexID;
import org.junit.Test;

/** What an ApplicationMaster of Tez knows of its vertices, and what is told of it. */
public class VerticesTest {
  private static final long LAUNCHED = 1_000_000;
  private static final String NOTHING = "0 0 0 0";

  private final AppContext context = mock(AppContext.class);
  private final Vertices vertices = new Vertices(context);

  private static TezDAGID id(int number) {
    return TezDAGID.getInstance(ApplicationId.newInstance(1, 1), number);
  }

  /** A vertex with so many tasks, of which so many run, and those are done that took so long. */
  private static Vertex vertex(int tasks, int running, long... millis) {
    Map<TezTaskID, Task> all = new HashMap<>();
    for (int i = 0; i < Math.max(tasks, millis.length); i++) {
      TaskAttempt attempt = mock(TaskAttempt.class);
      when(attempt.getLaunchTime()).thenReturn(LAUNCHED);
      when(attempt.getFinishTime()).thenReturn(i < millis.length ? LAUNCHED + millis[i] : 0);
      Task task = mock(Task.class);
      when(task.getSuccessfulAttempt()).thenReturn(i < millis.length ? attempt : null);
      all.put(TezTaskID.getInstance(TezVertexID.getInstance(id(1), 0), i), task);
    }
    Vertex vertex = mock(Vertex.class);
    when(vertex.getTasks()).thenReturn(all);
    when(vertex.getTotalTasks()).thenReturn(tasks);
    when(vertex.getRunningTasks()).thenReturn(running);
    return vertex;
  }

  private DAG runs(int number, Vertex... vertices) {
    Map<TezVertexID, Vertex> all = new HashMap<>();
    for (int i = 0; i < vertices.length; i++) {
      all.put(TezVertexID.getInstance(id(number), i), vertices[i]);
    }
    DAG dag = mock(DAG.class);
    when(dag.getID()).thenReturn(id(number));
    when(dag.getVertices()).thenReturn(all);
    when(context.getCurrentDAG()).thenReturn(dag);
    return dag;
  }

  /** Tasks, those that run and are done, and what each of these took. */
  private List<String> told() {
    return vertices.stages().stream().map(stage -> stage.tasks + " " + stage.running + " " + stage.done + " " + stage.eachMs)
        .collect(Collectors.toList());
  }

  @Test
  public void everyVertexIsKnownFromTheBeginning() {
    runs(1, vertex(8, 0), vertex(200, 4, 1_000, 3_000, 2_000));
    assertEquals(Arrays.asList("200 4 3 2000", "8 0 0 0", NOTHING, NOTHING), told());
    assertEquals(StageReport.ANY_CONTAINER, vertices.stages().get(0).priority);
    assertFalse(vertices.more());
  }

  @Test
  public void aContainerThatTezKeepsForTasksToComeIdles() {
    AMContainerMap all = mock(AMContainerMap.class);
    List<AMContainer> containers = Arrays.asList(container(2, AMContainerState.RUNNING), container(3, AMContainerState.IDLE));
    when(all.values()).thenReturn(containers);
    when(context.getAllContainers()).thenReturn(all);
    Map<Long, Worth> expected = new HashMap<>();
    expected.put(2L, Worth.BUSY);
    expected.put(3L, Worth.IDLE);
    assertEquals(expected, vertices.executors());
  }

  private static AMContainer container(long number, AMContainerState state) {
    AMContainer container = mock(AMContainer.class);
    ApplicationAttemptId attempt = ApplicationAttemptId.newInstance(ApplicationId.newInstance(1, 1), 1);
    when(container.getContainerId()).thenReturn(ContainerId.newContainerId(attempt, number));
    when(container.getState()).thenReturn(state);
    return container;
  }

  @Test
  public void aTaskThatStoodStillCountsAsThreeOrdinaryOnes() {
    runs(1, vertex(5, 0, 1_000, 1_000, 1_000, 180_000));
    assertEquals("5 0 4 1500", told().get(0));
  }

  @Test
  public void whatIsNotKnownIsSaidToBeUnknown() {
    runs(1, vertex(10, 0), vertex(-1, 0));
    assertTrue(vertices.more());
    assertEquals(Arrays.asList("10 0 0 0", NOTHING, NOTHING, NOTHING), told());
    when(context.getCurrentDAG()).thenReturn(null);
    assertTrue(vertices.more());
    assertEquals(Arrays.asList(NOTHING, NOTHING), told());
  }

  @Test
  public void aSessionCountsWhatItsEarlierDagsDidAndMayHaveMore() {
    when(context.isSession()).thenReturn(true);
    runs(1, vertex(2, 0, 1_000, 3_000));
    told();
    runs(2, vertex(30, 1));
    assertEquals(Arrays.asList("30 1 0 0", NOTHING, "2 0 2 2000"), told());
    assertEquals("looked at again it is the same", Arrays.asList("30 1 0 0", NOTHING, "2 0 2 2000"), told());
    assertTrue(vertices.more());
  }

  @Test
  public void ofADagThatFailedNothingIsLeft() {
    DAG dag = runs(1, vertex(30, 4, 1_000));
    when(dag.isComplete()).thenReturn(true);
    assertEquals("1 0 1 1000", told().get(0));
  }

  @Test
  public void moreVerticesThanFitIntoAReportAreToldTogether() {
    runs(1, Collections.nCopies(200, vertex(2, 1, 1_000)).toArray(new Vertex[0]));
    List<String> told = told();
    assertEquals(StageReport.MOST_STAGES, told.size());
    assertEquals("302 151 151 1000", told.get(StageReport.MOST_STAGES - 2));
  }

  @Test
  public void neitherMoreTasksAreDoneNorMoreRunThanThereAre() {
    runs(1, vertex(2, 2, 1_000, 1_000, 1_000));
    assertEquals("one was taken back meanwhile", "3 0 3 1000", told().get(0));
  }
}
