package io.hiatus.tez;

import io.hiatus.report.ExecutorReport.Worth;
import io.hiatus.report.StageReport;
import io.hiatus.report.StageReport.Stage;
import io.hiatus.report.StageReporter;
import io.hiatus.report.TaskTimes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.tez.dag.app.AppContext;
import org.apache.tez.dag.app.dag.DAG;
import org.apache.tez.dag.app.dag.Task;
import org.apache.tez.dag.app.dag.TaskAttempt;
import org.apache.tez.dag.app.dag.Vertex;
import org.apache.tez.dag.app.rm.container.AMContainerState;
import org.apache.tez.dag.records.TezDAGID;

/**
 * The vertices of a Tez application as stages. A container runs one task after the other, of whatever vertex, and not only of that for
 * which it was asked.
 */
final class Vertices implements StageReporter.Source {
  private final AppContext context;
  private TezDAGID seen;
  /** What was done of the DAG that was seen last. */
  private Stage done = stage(0, 0, 0, 0);
  /** What was done by those before: a session runs one after the other. */
  private Stage over = done;

  Vertices(AppContext context) {
    this.context = context;
  }

  /** A session may have more DAGs, and a vertex may not know its tasks yet. */
  @Override
  public boolean more() {
    DAG dag = context.getCurrentDAG();
    return context.isSession() || dag == null || dag.getVertices().values().stream().anyMatch(vertex -> vertex.getTotalTasks() < 0);
  }

  /** What earlier DAGs did, and the vertices of the one that runs; the smallest ones together, if they do not fit into a report. */
  @Override
  public List<Stage> stages() {
    DAG dag = context.getCurrentDAG();
    TezDAGID id = dag == null ? null : dag.getID();
    if (!Objects.equals(id, seen)) {
      seen = id;
      over = sum(Arrays.asList(over, done));
    }
    List<Stage> vertices = dag == null ? Collections.emptyList() : dag.getVertices().values().stream()
        .map(vertex -> told(vertex, dag.isComplete())).sorted(Comparator.comparing((Stage stage) -> stage.tasks).reversed()).collect(Collectors.toList());
    Stage all = sum(vertices);
    done = stage(all.done, 0, all.done, all.eachMs);
    int alone = Math.min(vertices.size(), StageReport.MOST_STAGES - 2);
    List<Stage> stages = new ArrayList<>(vertices.subList(0, alone));
    stages.add(sum(vertices.subList(alone, vertices.size())));
    stages.add(over);
    return stages;
  }

  /** Tez keeps a container for a while after its task, for others to come. What tasks leave behind the NodeManager serves. */
  @Override
  public Map<Long, Worth> executors() {
    return context.getAllContainers().values().stream().collect(Collectors.toMap(container -> container.getContainerId().getContainerId(),
        container -> container.getState() == AMContainerState.IDLE ? Worth.IDLE : Worth.BUSY));
  }

  /** @param ended whether its DAG has, so that what was not done will not be */
  private static Stage told(Vertex vertex, boolean ended) {
    long[] millis = vertex.getTasks().values().stream().map(Task::getSuccessfulAttempt).filter(Objects::nonNull)
        .mapToLong(Vertices::millis).toArray();
    int tasks = ended ? millis.length : Math.max(millis.length, vertex.getTotalTasks());
    return stage(tasks, ended ? 0 : Math.min(tasks - millis.length, vertex.getRunningTasks()), millis.length,
        TaskTimes.meanMs(millis));
  }

  private static long millis(TaskAttempt attempt) {
    return Math.max(0, attempt.getFinishTime() - attempt.getLaunchTime());
  }

  private static Stage stage(int tasks, int running, int done, long eachMs) {
    return new Stage(StageReport.ANY_CONTAINER, tasks, running, done, eachMs, 1);
  }

  private static Stage sum(List<Stage> stages) {
    int of = stages.stream().mapToInt(stage -> stage.done).sum();
    long millis = stages.stream().mapToLong(stage -> stage.done * stage.eachMs).sum();
    return stage(stages.stream().mapToInt(stage -> stage.tasks).sum(), stages.stream().mapToInt(stage -> stage.running).sum(), of,
        of == 0 ? 0 : millis / of);
  }
}
