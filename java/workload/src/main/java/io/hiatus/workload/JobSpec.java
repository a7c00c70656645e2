package io.hiatus.workload;

import java.util.Collections;
import java.util.List;
import java.util.Map;

/** One job of a workload file, as written there. */
public final class JobSpec {
    /** Name, unique in the workload: lower case letters, digits, '-' and '_'. The application carries the tag {@code workload-<name>}. */
    public String name;
    /** Submission time in seconds after the start of the workload. */
    public double at_s;
    /** A name of {@link Programs}, or the class name of a {@link org.apache.hadoop.util.Tool}. */
    public String program;
    /** Arguments of the program. */
    public List<String> args = Collections.emptyList();
    /** Configuration of this job alone. */
    public Map<String, String> conf = Collections.emptyMap();
    /** User to submit as; null for the user running this. */
    public String user;
    /** What the simulator makes of the job instead of running its program; not for a live replay. */
    public Object simulated;
}
