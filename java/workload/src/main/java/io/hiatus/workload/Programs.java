package io.hiatus.workload;

import java.lang.reflect.Constructor;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.util.Tool;

/** The MapReduce programs a workload may name. */
final class Programs {
    private static final Map<String, String> CLASSES;

    static {
        Map<String, String> classes = new HashMap<>();
        classes.put("wordcount", WordCount.class.getName());
        classes.put("teragen", "org.apache.hadoop.examples.terasort.TeraGen");
        classes.put("terasort", "org.apache.hadoop.examples.terasort.TeraSort");
        classes.put("teravalidate", "org.apache.hadoop.examples.terasort.TeraValidate");
        classes.put("randomtextwriter", "org.apache.hadoop.examples.RandomTextWriter");
        classes.put("grep", "org.apache.hadoop.examples.Grep");
        classes.put("sort", "org.apache.hadoop.examples.Sort");
        classes.put("pi", "org.apache.hadoop.examples.QuasiMonteCarlo");
        classes.put("timed-tasks", TimedTasks.class.getName());
        classes.put("bytes-job", BytesJob.class.getName());
        classes.put("pig-script", PigScript.class.getName());
        classes.put("sleep", "org.apache.hadoop.mapreduce.SleepJob");
        CLASSES = Collections.unmodifiableMap(classes);
    }

    private Programs() { }

    /** A new instance of the named program. */
    static Tool create(String program) throws ReflectiveOperationException {
        Constructor<? extends Tool> constructor =
            Class.forName(CLASSES.getOrDefault(program, program)).asSubclass(Tool.class).getDeclaredConstructor();
        constructor.setAccessible(true); // Hadoop's Grep keeps its own private
        return constructor.newInstance();
    }
}
