package io.hiatus.mapreduce;

import io.hiatus.report.JobReport;
import io.hiatus.report.Report;
import io.hiatus.report.ReportSender;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.rm.preemption.NoopAMPreemptionPolicy;
import org.apache.hadoop.security.UserGroupInformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the ResourceManager where the tasks of this job are, so that reduces that wait may lend their room to maps: every second
 * while reduces run beside maps, else every five. To MapReduce it is stock's preemption policy that does nothing, which every
 * ApplicationMaster that asks for containers makes and gives the whole job. Nothing depends on what is told, and nobody waits for it.
 */
public final class ReportingPreemptionPolicy extends NoopAMPreemptionPolicy implements Configurable {
    private static final Logger LOG = LoggerFactory.getLogger(ReportingPreemptionPolicy.class);
    private static final long LIVELY_MS = 1_000;
    private static final long QUIET_MS = 5_000;

    private Configuration conf;
    private AppContext context;
    private UserGroupInformation user;
    private long number = ReportSender.firstNumber();

    @Override
    public void setConf(Configuration conf) {
        this.conf = conf;
    }

    @Override
    public Configuration getConf() {
        return conf;
    }

    @Override
    public void init(AppContext context) {
        super.init(context);
        this.context = context;
        if (conf.getInt(ReportSender.PORT, 0) == 0) {
            return;
        }
        try {
            user = UserGroupInformation.getCurrentUser();
        } catch (IOException e) {
            LOG.warn("Hiatus is not told of this job's progress", e);
            return;
        }
        Thread thread = new Thread(this::reportOn, "HiatusReports");
        thread.setDaemon(true);
        thread.start();
    }

    private void reportOn() {
        try (ReportSender sender = new ReportSender(conf, ReportSender.ofMaster(user))) {
            while (true) {
                Job job = job();
                if (job != null) {
                    sender.send(speaker -> reports(job, speaker.getKeyId()));
                }
                Thread.sleep(job != null && isShuffling(job) ? LIVELY_MS : QUIET_MS);
            }
        } catch (IOException | RuntimeException e) {
            LOG.warn("Hiatus is not told of this job's progress any more", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody does, and if so it is over
        }
    }

    private Job job() {
        return context.getAllJobs().values().stream().findAny().orElse(null);
    }

    private static boolean isShuffling(Job job) {
        return job.getTotalReduces() > 0 && job.getCompletedMaps() < job.getTotalMaps();
    }

    /** What there is to say now, in as many reports as needed; in one at least. */
    List<JobReport> reports(Job job, int keyId) {
        List<JobReport.Task> running = new ArrayList<>();
        collect(job, TaskType.REDUCE, running);
        collect(job, TaskType.MAP, running);
        // After the tasks: what a reduce has not fetched of these it had not fetched when it was looked at.
        int mapsDone = job.getCompletedMaps();
        int reducesDone = job.getCompletedReduces();
        List<JobReport> reports = new ArrayList<>();
        for (List<JobReport.Task> part : Report.parts(running, JobReport.MOST_TASKS)) {
            reports.add(new JobReport(context.getApplicationID().getClusterTimestamp(), context.getApplicationID().getId(),
                    context.getApplicationAttemptId().getAttemptId(), keyId, number++, job.getTotalMaps(), mapsDone,
                    job.getTotalReduces(), reducesDone, part));
        }
        return reports;
    }

    private static void collect(Job job, TaskType type, List<JobReport.Task> running) {
        for (Task task : job.getTasks(type).values()) {
            if (task.isFinished()) {
                continue;
            }
            for (TaskAttempt attempt : task.getAttempts().values()) {
                if (attempt.getState() == TaskAttemptState.RUNNING && attempt.getAssignedContainerID() != null) {
                    float progress = Math.max(0, Math.min(1, attempt.getProgress()));
                    running.add(new JobReport.Task(attempt.getAssignedContainerID().getContainerId(), phase(type, attempt.getPhase()),
                            progress, type == TaskType.MAP ? 0 : fetched(attempt, job.getTotalMaps())));
                }
            }
        }
    }

    private static JobReport.Phase phase(TaskType type, Phase phase) {
        if (type == TaskType.MAP) {
            return phase == Phase.SORT ? JobReport.Phase.MAP_SORT : JobReport.Phase.MAP;
        }
        return phase == Phase.REDUCE ? JobReport.Phase.REDUCE : phase == Phase.SORT ? JobReport.Phase.SORT : JobReport.Phase.FETCH;
    }

    private static int fetched(TaskAttempt reduce, int maps) {
        return (int) Math.min(maps, reduce.getCounters().findCounter(TaskCounter.SHUFFLED_MAPS).getValue());
    }
}
