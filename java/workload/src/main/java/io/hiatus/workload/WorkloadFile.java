package io.hiatus.workload;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** A workload file: <code>{"jobs": [{"name", "at_s", "program", "args", "conf", "user", "simulated"}, …]}</code>. */
public final class WorkloadFile {
    private static final Pattern NAME = Pattern.compile("[a-z0-9_-]{1,80}");

    /** The jobs, in any order. */
    public List<JobSpec> jobs = new ArrayList<>();

    /**
     * Reads and checks a workload file.
     *
     * @throws IOException if it cannot be read or is no JSON of this form, naming line and column
     * @throws IllegalArgumentException if a job's name, time or program is not usable, naming the job
     */
    public static WorkloadFile read(File file) throws IOException {
        WorkloadFile workload = new ObjectMapper().readValue(file, WorkloadFile.class);
        Set<String> names = new HashSet<>();
        for (JobSpec job : workload.jobs) {
            if (job.name == null || !NAME.matcher(job.name).matches()) {
                throw new IllegalArgumentException(file + ": job name '" + job.name + "' must match " + NAME);
            }
            if (!names.add(job.name)) {
                throw new IllegalArgumentException(file + ": two jobs are called '" + job.name + "'");
            }
            if (!(job.at_s >= 0) || Double.isInfinite(job.at_s)) {
                throw new IllegalArgumentException(file + ": job '" + job.name + "': at_s must be a number of seconds >= 0");
            }
            if (job.program == null) {
                throw new IllegalArgumentException(file + ": job '" + job.name + "' has no program");
            }
        }
        return workload;
    }
}
