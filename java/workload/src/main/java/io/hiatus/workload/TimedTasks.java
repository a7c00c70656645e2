package io.hiatus.workload;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.util.Tool;

/**
 * A job whose every task works for a time of its own, in strokes: time in which it is suspended does not count, as it would for a task
 * of SleepJob. Arguments: milliseconds of each map, then of each reduce (may be missing), separated by commas. Progress is linear.
 *
 * <p>Each map holds {@value #MEMORY_MB} MiB of random values from its begin to its end and then checks them. The job's counters
 * tell how many {@link Tally#STROKES} were worked and how many {@link Tally#WRONG_CHUNKS} of memory were found.
 */
public final class TimedTasks extends Configured implements Tool {
    /** Memory that each map fills, in MiB. */
    public static final String MEMORY_MB = "hiatus.workload.map.memory-mb";
    private static final String MAPS_MS = "hiatus.workload.maps-ms";
    private static final String REDUCES_MS = "hiatus.workload.reduces-ms";
    private static final int STROKE_MS = 100;

    /** What the tasks counted. */
    public enum Tally {
        /** Strokes of 100 ms worked by all tasks. */
        STROKES,
        /** Pieces of memory that did not hold what was written. */
        WRONG_CHUNKS
    }

    @Override
    public int run(String[] args) throws Exception {
        Configuration conf = getConf();
        conf.set(MAPS_MS, args[0]);
        conf.set(REDUCES_MS, args.length > 1 ? args[1] : "");
        Job job = Job.getInstance(conf);
        job.setJarByClass(TimedTasks.class);
        job.setInputFormatClass(Strokes.class);
        job.setMapperClass(Map.class);
        job.setMapOutputKeyClass(IntWritable.class);
        job.setMapOutputValueClass(NullWritable.class);
        job.setPartitionerClass(ByKey.class);
        job.setReducerClass(Reduce.class);
        job.setNumReduceTasks(conf.getInts(REDUCES_MS).length);
        job.setOutputFormatClass(NullOutputFormat.class);
        return job.waitForCompletion(false) ? 0 : 1;
    }

    private static int strokes(int ms) {
        return Math.max(1, ms / STROKE_MS);
    }

    private static void work(TaskAttemptContext context) throws InterruptedException {
        Thread.sleep(STROKE_MS);
        context.getCounter(Tally.STROKES).increment(1);
        context.progress();
    }

    /** A map's input: one record for each stroke. The first map also knows the strokes of the reduces. */
    public static final class Split extends InputSplit implements Writable {
        private int strokes;
        private int index;

        @Override
        public long getLength() {
            return strokes;
        }

        @Override
        public String[] getLocations() {
            return new String[0];
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeInt(strokes);
            out.writeInt(index);
        }

        @Override
        public void readFields(DataInput in) throws IOException {
            strokes = in.readInt();
            index = in.readInt();
        }
    }

    /** The maps' strokes. Keys are the map's index, values nothing. */
    public static final class Strokes extends InputFormat<IntWritable, NullWritable> {
        @Override
        public List<InputSplit> getSplits(JobContext context) {
            int[] times = context.getConfiguration().getInts(MAPS_MS);
            List<InputSplit> splits = new ArrayList<>();
            for (int index = 0; index < times.length; index++) {
                Split split = new Split();
                split.strokes = strokes(times[index]);
                split.index = index;
                splits.add(split);
            }
            return splits;
        }

        @Override
        public RecordReader<IntWritable, NullWritable> createRecordReader(InputSplit split, TaskAttemptContext context) {
            return new StrokeReader();
        }
    }

    private static final class StrokeReader extends RecordReader<IntWritable, NullWritable> {
        private final IntWritable index = new IntWritable();
        private int strokes;
        private int given;

        @Override
        public void initialize(InputSplit split, TaskAttemptContext context) {
            strokes = ((Split) split).strokes;
            index.set(((Split) split).index);
        }

        @Override
        public boolean nextKeyValue() {
            return given++ < strokes;
        }

        @Override
        public IntWritable getCurrentKey() {
            return index;
        }

        @Override
        public NullWritable getCurrentValue() {
            return NullWritable.get();
        }

        @Override
        public float getProgress() {
            return Math.min(1f, (float) given / strokes);
        }

        @Override
        public void close() { }
    }

    /** Works through its strokes; the first map writes a record for each stroke of each reduce. */
    public static final class Map extends Mapper<IntWritable, NullWritable, IntWritable, NullWritable> {
        private HeldMemory memory;
        private boolean first;

        @Override
        protected void setup(Context context) {
            memory = new HeldMemory(context.getConfiguration().getInt(MEMORY_MB, 0), context.getTaskAttemptID().hashCode());
        }

        @Override
        protected void map(IntWritable index, NullWritable nothing, Context context) throws InterruptedException {
            first = index.get() == 0;
            work(context);
        }

        @Override
        protected void cleanup(Context context) throws IOException, InterruptedException {
            context.getCounter(Tally.WRONG_CHUNKS).increment(memory.wrongChunks());
            int[] reduces = first ? context.getConfiguration().getInts(REDUCES_MS) : new int[0];
            for (int reduce = 0; reduce < reduces.length; reduce++) {
                for (int stroke = 0; stroke < strokes(reduces[reduce]); stroke++) {
                    context.write(new IntWritable(reduce), NullWritable.get());
                }
            }
        }
    }

    /** Gives the n-th reduce its key. */
    public static final class ByKey extends Partitioner<IntWritable, NullWritable> {
        @Override
        public int getPartition(IntWritable reduce, NullWritable nothing, int reduces) {
            return reduce.get() % reduces;
        }
    }

    /** Works a stroke for each of its records. */
    public static final class Reduce extends Reducer<IntWritable, NullWritable, NullWritable, NullWritable> {
        @Override
        protected void reduce(IntWritable self, Iterable<NullWritable> strokes, Context context) throws InterruptedException {
            for (NullWritable ignored : strokes) {
                work(context);
            }
        }
    }
}
