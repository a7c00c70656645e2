package io.hiatus.mapreduce;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEvent;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent;
import org.apache.hadoop.mapreduce.v2.app.speculate.TaskRuntimeEstimator;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;

/**
 * A job of maps on stock's DefaultSpeculator, second by second of a clock of its own. Its attempts report as MapReduce's do: after
 * each interval of work, and, if that ended during a suspension, as soon as they go on.
 */
final class SimulatedJob implements Containers {
    static final long SECOND_MS = 1_000;
    static final long REPORT_MS = 6_000;
    private static final String NODE = "node:1";
    private static final long BYTES = 128 << 20;

    private final JobId id = MRBuilderUtils.newJobId(ApplicationId.newInstance(1, 1), 1);
    private final ApplicationAttemptId master = ApplicationAttemptId.newInstance(id.getAppId(), 1);
    private final Map<TaskId, Task> tasks = new LinkedHashMap<>();
    private final Map<ContainerId, Worker> workers = new LinkedHashMap<>();
    private final Set<TaskId> backedUp = new HashSet<>();
    private final AppContext context = mock(AppContext.class);
    private final Job job = mock(Job.class);
    private final DefaultSpeculator speculator;
    private final TaskRuntimeEstimator estimator;
    private boolean nodeAnswers = true;
    private int questions;
    private long nowMs = 1_700_000_000_000L;

    /** A way to make an estimator that asks the given containers. */
    interface Making {
        TaskRuntimeEstimator estimator(Containers containers);
    }

    SimulatedJob(Making making) {
        Configuration conf = new Configuration(false);
        conf.setLong(MRJobConfig.TASK_PROGRESS_REPORT_INTERVAL, REPORT_MS);
        conf.setLong(SuspensionAwareEstimator.MIN_RUN_MS, 10_000);
        when(context.getClock()).thenReturn(() -> nowMs);
        when(context.getJob(id)).thenReturn(job);
        when(context.getAllJobs()).thenReturn(Collections.singletonMap(id, job));
        EventHandler<Event<?>> handler = event -> backedUp.add(((TaskEvent) event).getTaskID());
        when(context.getEventHandler()).thenAnswer(call -> handler);
        when(job.getTask(any())).thenAnswer(call -> tasks.get(call.<TaskId>getArgument(0)));
        when(job.getTasks(TaskType.MAP)).thenReturn(tasks);
        when(job.getTotalMaps()).thenAnswer(call -> tasks.size());
        when(job.getCompletedMaps()).thenAnswer(call -> (int) workers.values().stream().filter(worker -> worker.done).count());
        estimator = making.estimator(this);
        estimator.contextualize(conf, context);
        speculator = new DefaultSpeculator(conf, context, estimator, context.getClock());
    }

    /** Launches a map that needs so much work. */
    Worker launch(double workS) {
        TaskId task = MRBuilderUtils.newTaskId(id, tasks.size(), TaskType.MAP);
        Worker worker = new Worker(task, workS * SECOND_MS);
        speculator.handle(new SpeculatorEvent(task, +1));
        speculator.handle(new SpeculatorEvent(task, -1));
        speculator.handle(new SpeculatorEvent(worker.id, true, nowMs));
        return worker;
    }

    /** Launches maps that need so much work each. */
    Worker[] launch(double... workS) {
        return Arrays.stream(workS).mapToObj(this::launch).toArray(Worker[]::new);
    }

    /** Lets time pass. */
    void run(double seconds) {
        for (int second = 0; second < seconds; second++) {
            nowMs += SECOND_MS;
            workers.values().forEach(Worker::step);
            if (estimator instanceof SuspensionAwareEstimator) {
                ((SuspensionAwareEstimator<?>) estimator).look();
            }
            scan();
        }
    }

    private void scan() {
        try {
            Method scan = DefaultSpeculator.class.getDeclaredMethod("computeSpeculations"); // what its thread does every second
            scan.setAccessible(true);
            scan.invoke(speculator);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Numbers of the tasks that were backed up so far, from 0 in the order of their launch. */
    Set<Integer> backedUp() {
        Set<Integer> numbers = new TreeSet<>();
        backedUp.forEach(task -> numbers.add(task.getId()));
        return numbers;
    }

    TaskRuntimeEstimator estimator() {
        return estimator;
    }

    /** How often the node was asked. */
    int questions() {
        return questions;
    }

    /** The node of all attempts answers no more, or again. */
    void nodeAnswers(boolean answers) {
        nodeAnswers = answers;
    }

    @Override
    public Set<ContainerId> suspended(String node, Collection<ContainerId> asked) throws IOException {
        questions++;
        if (!nodeAnswers) {
            if (questions % 2 == 0) { // as Hadoop's client says of a host whose name is gone
                throw new IllegalArgumentException(new UnknownHostException(node));
            }
            throw new IOException("no route to host");
        }
        Set<ContainerId> found = new HashSet<>(asked);
        found.removeIf(container -> !workers.get(container).suspended);
        return found;
    }

    /** The process of an attempt. */
    final class Worker {
        final TaskAttemptId id;
        private final TaskAttempt attempt = mock(TaskAttempt.class);
        private final double workMs;
        private double workedMs;
        private long toReportMs = REPORT_MS;
        private float reported;
        private long finishMs;
        private boolean done;
        private boolean suspended;
        private boolean hangs;

        private Worker(TaskId taskId, double workMs) {
            this.workMs = workMs;
            id = MRBuilderUtils.newTaskAttemptId(taskId, 0);
            ContainerId container = ContainerId.newContainerId(master, taskId.getId());
            when(attempt.getID()).thenReturn(id);
            when(attempt.getState()).thenAnswer(call -> done ? TaskAttemptState.SUCCEEDED : TaskAttemptState.RUNNING);
            when(attempt.isFinished()).thenAnswer(call -> done);
            when(attempt.getFinishTime()).thenAnswer(call -> finishMs);
            when(attempt.getProgress()).thenAnswer(call -> progress());
            when(attempt.getAssignedContainerID()).thenReturn(container);
            when(attempt.getAssignedContainerMgrAddress()).thenReturn(NODE);
            Task task = mock(Task.class);
            when(task.getType()).thenReturn(TaskType.MAP);
            when(task.getAttempts()).thenReturn(Collections.singletonMap(id, attempt));
            when(task.getAttempt(id)).thenReturn(attempt);
            tasks.put(taskId, task);
            workers.put(container, this);
        }

        void suspend() {
            suspended = true;
        }

        void resume() {
            suspended = false;
        }

        /** It makes no more progress, though its process runs. */
        void hang() {
            hangs = true;
        }

        /** It works from now on, and no longer hangs. */
        void begin() {
            hangs = false;
            toReportMs = REPORT_MS;
        }

        boolean isDone() {
            return done;
        }

        private float progress() {
            return (float) Math.min(1, workedMs / workMs);
        }

        private void step() {
            toReportMs -= SECOND_MS;
            if (suspended || hangs || done) {
                return;
            }
            workedMs += SECOND_MS;
            done = progress() == 1;
            if (done) { // MapReduce's maps repeat their last report when they end, and then send the true one
                finishMs = nowMs;
                report(reported);
            }
            if (done || toReportMs <= 0) {
                toReportMs = REPORT_MS;
                report(progress());
            }
        }

        private void report(float progress) {
            reported = progress;
            TaskAttemptStatus status = new TaskAttemptStatus();
            status.id = id;
            status.progress = progress;
            status.taskState = attempt.getState();
            status.counters = new Counters();
            status.counters.findCounter(FileInputFormatCounter.BYTES_READ).setValue((long) (BYTES * progress));
            speculator.handle(new SpeculatorEvent(status, nowMs));
        }
    }
}
