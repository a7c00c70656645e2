package io.hiatus.workload;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ToolRunner;

/**
 * Submits the jobs of a {@link WorkloadFile} at their times, all from one JVM, and waits for their ends.
 *
 * <p>Standard output carries one JSON object per event: <code>{"job", "event": "submit" | "success" | "failure", "at_ms"[, "error"]}</code>,
 * where {@code at_ms} is wall-clock time. What a job did is asked of the ResourceManager and the job history server, by its tag.
 */
public final class Workload {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Workload() { }

    /** Runs the workload file given as the one argument. Exit code 0: all jobs succeeded; 1: some did not; 2: not a workload. */
    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: " + Workload.class.getName() + " WORKLOAD.json");
            System.exit(2);
        }
        WorkloadFile workload;
        try {
            workload = WorkloadFile.read(new File(args[0]));
        } catch (java.io.IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        System.exit(run(workload) ? 0 : 1);
    }

    private static boolean run(WorkloadFile workload) throws Exception {
        JobConf cluster = new JobConf();
        cluster.size(); // reads the configuration files, once and before the clock starts
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(Math.max(1, workload.jobs.size()));
        List<Future<Boolean>> ends = new ArrayList<>();
        for (JobSpec job : workload.jobs) {
            ends.add(pool.schedule(() -> run(job, cluster), (long) (job.at_s * 1000), TimeUnit.MILLISECONDS));
        }
        boolean allSucceeded = true;
        for (Future<Boolean> end : ends) {
            allSucceeded &= end.get();
        }
        pool.shutdown();
        return allSucceeded;
    }

    private static boolean run(JobSpec job, JobConf cluster) {
        tell(job, "submit", null);
        try {
            UserGroupInformation user = job.user == null ? UserGroupInformation.getCurrentUser()
                : UserGroupInformation.createRemoteUser(job.user);
            int code = user.doAs((PrivilegedExceptionAction<Integer>) () ->
                ToolRunner.run(configuration(job, cluster), Programs.create(job.program), job.args.toArray(new String[0])));
            tell(job, code == 0 ? "success" : "failure", code == 0 ? null : "ended with " + code);
            return code == 0;
        } catch (Exception e) {
            e.printStackTrace();
            tell(job, "failure", e.toString());
            return false;
        }
    }

    static JobConf configuration(JobSpec job, JobConf cluster) {
        JobConf conf = new JobConf(cluster);
        // A copy shares the original's, and jobs that are submitted at once would break each other's.
        conf.setCredentials(new Credentials());
        conf.setJobName(job.name);
        job.conf.forEach(conf::set);
        String tag = "workload-" + job.name;
        String tags = conf.get("mapreduce.job.tags");
        conf.set("mapreduce.job.tags", tags == null ? tag : tags + "," + tag);
        return conf;
    }

    private static void tell(JobSpec job, String event, String error) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("job", job.name);
        line.put("event", event);
        line.put("at_ms", System.currentTimeMillis());
        if (error != null) {
            line.put("error", error);
        }
        try {
            System.out.println(JSON.writeValueAsString(line));
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IllegalStateException(e); // a map of strings and a number
        }
    }
}
