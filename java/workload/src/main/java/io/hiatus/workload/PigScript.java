package io.hiatus.workload;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.util.Tool;

/**
 * Runs a Pig script in a JVM of its own, since Pig keeps too much in static fields to run several scripts in one. Arguments: the script,
 * then its parameters as name=value. All jobs of the script carry this job's tags.
 */
public final class PigScript extends Configured implements Tool {
    private static final String PREFIX = "hiatus.workload.pig.";
    /** The whole command line up to Pig's main class: the JVM, its options, the class path. Words are separated by line ends. */
    public static final String COMMAND = PREFIX + "command";
    /** A folder for what Pig says, a file for each job. */
    public static final String LOGS = PREFIX + "logs";

    /** Returns Pig's exit code. */
    @Override
    public int run(String[] args) throws Exception {
        String name = getConf().get("mapreduce.job.name");
        List<String> command = new ArrayList<>(Arrays.asList(getConf().get(COMMAND).split("\n")));
        command.add("-Dmapreduce.job.tags=" + getConf().get("mapreduce.job.tags"));
        command.add("org.apache.pig.Main");
        command.addAll(Arrays.asList("-x", "mapreduce", "-l", getConf().get(LOGS)));
        for (String parameter : Arrays.asList(args).subList(1, args.length)) {
            command.addAll(Arrays.asList("-param", parameter));
        }
        command.addAll(Arrays.asList("-f", args[0]));
        File said = new File(getConf().get(LOGS), name + ".log");
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said).start().waitFor();
    }
}
