package io.hiatus.workload;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;

/**
 * A job that reads, shuffles and writes exactly so many bytes, and checks every record it reads or shuffles.
 *
 * <p>Arguments: a folder of files that records of {@value NumberedRecord#BYTES} bytes fill, each ending in its CRC; the output folder;
 * maps; reduces; bytes to read, to shuffle, to write. Jobs share the files: each begins at one that its name tells, each of its maps at the
 * next one. What is shuffled or written is none, or a record at least; of the shuffle one for each reduce. Without reduces the maps write.
 */
public final class BytesJob extends Configured implements Tool {
    private static final String PREFIX = "hiatus.workload.bytes.";
    private static final String INPUT = PREFIX + "input";
    private static final String MAPS = PREFIX + "maps";
    private static final String READ = PREFIX + "read";
    private static final String SHUFFLE = PREFIX + "shuffle";
    private static final String WRITE = PREFIX + "write";
    private static final String ID = PREFIX + "id";

    /** What the tasks counted. */
    public enum Tally {
        /** Bytes read by maps. */
        IN,
        /** Bytes of records that reached reduces. */
        SHUFFLE,
        /** Bytes written to the output. */
        OUT,
        /** Records that were not as they were made, came twice or never. */
        WRONG_RECORDS
    }

    @Override
    public int run(String[] args) throws Exception {
        Configuration conf = getConf();
        conf.set(INPUT, args[0]);
        conf.set(MAPS, args[2]);
        conf.set(READ, args[4]);
        conf.set(SHUFFLE, args[5]);
        conf.set(WRITE, args[6]);
        Job job = Job.getInstance(conf);
        job.getConfiguration().setInt(ID, job.getJobName().hashCode());
        job.setJarByClass(BytesJob.class);
        job.setInputFormatClass(Shares.class);
        job.setMapperClass(Map.class);
        job.setMapOutputKeyClass(BytesWritable.class);
        job.setMapOutputValueClass(NullWritable.class);
        job.setPartitionerClass(ByNumber.class);
        job.setReducerClass(Reduce.class);
        job.setNumReduceTasks(Integer.parseInt(args[3]));
        job.setOutputFormatClass(Raw.class);
        FileOutputFormat.setOutputPath(job, new Path(args[1]));
        return job.waitForCompletion(false) ? 0 : 1;
    }

    /** Where the share of task {@code task} of {@code tasks} begins, in what all of them have together. */
    private static long begin(long whole, int task, int tasks) {
        return whole / tasks * task + whole % tasks * task / tasks;
    }

    /** Writes a task's share of records, in step with its other work. */
    private static final class Emitter {
        private final Configuration conf;
        private final long total;
        private final long first;
        private final long records;
        private long written;

        Emitter(Configuration conf, String what, int task, int tasks) {
            this.conf = conf;
            total = conf.getLong(what, 0);
            long all = NumberedRecord.count(total);
            first = begin(all, task, tasks);
            records = begin(all, task + 1, tasks) - first;
        }

        /** Writes what is due when so much of the work is done; says how many bytes that was. */
        long advance(long done, long work, Sink sink) throws IOException, InterruptedException {
            long due = done >= work ? records : (long) ((double) records * done / work);
            long bytes = 0;
            for (; written < due; written++) {
                byte[] record = NumberedRecord.of(conf.getInt(ID, 0), first + written, total);
                sink.write(new BytesWritable(record));
                bytes += record.length;
            }
            return bytes;
        }
    }

    private interface Sink {
        void write(BytesWritable record) throws IOException, InterruptedException;
    }

    /** A map's share of the input: where it begins and how long it is; and the steps that reading and writing are done in. */
    public static final class Share extends InputSplit implements Writable {
        private int index;
        private long bytes;
        private long steps;

        @Override
        public long getLength() {
            return bytes;
        }

        @Override
        public String[] getLocations() {
            return new String[0]; // a share may be many files
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeInt(index);
            out.writeLong(bytes);
            out.writeLong(steps);
        }

        @Override
        public void readFields(DataInput in) throws IOException {
            index = in.readInt();
            bytes = in.readLong();
            steps = in.readLong();
        }
    }

    /** The maps' shares. Keys are steps, from 1. */
    public static final class Shares extends InputFormat<LongWritable, NullWritable> {
        @Override
        public List<InputSplit> getSplits(JobContext context) {
            Configuration conf = context.getConfiguration();
            int maps = conf.getInt(MAPS, 1);
            String emitted = context.getNumReduceTasks() > 0 ? SHUFFLE : WRITE;
            List<InputSplit> splits = new ArrayList<>();
            for (int index = 0; index < maps; index++) {
                Share share = new Share();
                share.index = index;
                share.bytes = begin(conf.getLong(READ, 0), index + 1, maps) - begin(conf.getLong(READ, 0), index, maps);
                long records = Math.max(share.bytes / NumberedRecord.BYTES, new Emitter(conf, emitted, index, maps).records);
                share.steps = Math.max(1, records);
                splits.add(share);
            }
            return splits;
        }

        @Override
        public RecordReader<LongWritable, NullWritable> createRecordReader(InputSplit split, TaskAttemptContext context) {
            return new ShareReader();
        }
    }

    /** Reads a share step by step, file after file, and checks the records. */
    private static final class ShareReader extends RecordReader<LongWritable, NullWritable> {
        private final byte[] record = new byte[NumberedRecord.BYTES];
        private final LongWritable step = new LongWritable();
        private Share share;
        private TaskAttemptContext context;
        private FileSystem files;
        private Path[] ring;
        private int next;
        private FSDataInputStream open;
        private long left;
        private long read;

        @Override
        public void initialize(InputSplit split, TaskAttemptContext task) throws IOException {
            share = (Share) split;
            context = task;
            Path folder = new Path(task.getConfiguration().get(INPUT));
            files = folder.getFileSystem(task.getConfiguration());
            if (share.bytes > 0) {
                ring = Arrays.stream(files.listStatus(folder)).map(FileStatus::getPath).sorted().toArray(Path[]::new);
                next = Math.floorMod(task.getConfiguration().getInt(ID, 0), ring.length) + share.index;
            }
        }

        @Override
        public boolean nextKeyValue() throws IOException {
            if (step.get() == share.steps) {
                return false;
            }
            step.set(step.get() + 1);
            long due = step.get() == share.steps ? share.bytes : (long) ((double) share.bytes * step.get() / share.steps);
            while (due - read >= NumberedRecord.BYTES || read < due && step.get() == share.steps) {
                readRecord((int) Math.min(NumberedRecord.BYTES, due - read));
            }
            return true;
        }

        private void readRecord(int length) throws IOException {
            if (left == 0) {
                close();
                Path file = ring[next++ % ring.length];
                left = files.getFileStatus(file).getLen();
                open = files.open(file);
            }
            open.readFully(record, 0, length);
            left -= length;
            read += length;
            context.getCounter(Tally.IN).increment(length);
            if (length == record.length && !NumberedRecord.endsInItsCrc(record, length)) {
                context.getCounter(Tally.WRONG_RECORDS).increment(1);
            }
        }

        @Override
        public LongWritable getCurrentKey() {
            return step;
        }

        @Override
        public NullWritable getCurrentValue() {
            return NullWritable.get();
        }

        @Override
        public float getProgress() {
            return (float) step.get() / share.steps;
        }

        @Override
        public void close() throws IOException {
            if (open != null) {
                open.close();
            }
        }
    }

    /** Emits its share of the shuffle, or of the output if there are no reduces. */
    public static final class Map extends Mapper<LongWritable, NullWritable, BytesWritable, NullWritable> {
        private Share share;
        private Emitter emitter;

        @Override
        protected void setup(Context context) {
            share = (Share) context.getInputSplit();
            Configuration conf = context.getConfiguration();
            emitter = new Emitter(conf, context.getNumReduceTasks() > 0 ? SHUFFLE : WRITE, share.index, conf.getInt(MAPS, 1));
        }

        @Override
        protected void map(LongWritable step, NullWritable nothing, Context context) throws IOException, InterruptedException {
            long bytes = emitter.advance(step.get(), share.steps, record -> context.write(record, NullWritable.get()));
            if (context.getNumReduceTasks() == 0) {
                context.getCounter(Tally.OUT).increment(bytes);
            }
        }
    }

    /** Deals records out by their numbers. */
    public static final class ByNumber extends Partitioner<BytesWritable, NullWritable> {
        @Override
        public int getPartition(BytesWritable record, NullWritable nothing, int reduces) {
            return (int) (NumberedRecord.number(record.getBytes()) % reduces);
        }
    }

    /** Checks that each of its records comes once and intact, and writes its share of the output. */
    public static final class Reduce extends Reducer<BytesWritable, NullWritable, BytesWritable, NullWritable> {
        private final BitSet seen = new BitSet();
        private int self;
        private int reduces;
        private int id;
        private long wanted;
        private long came;
        private Emitter emitter;

        @Override
        protected void setup(Context context) {
            Configuration conf = context.getConfiguration();
            self = context.getTaskAttemptID().getTaskID().getId();
            reduces = context.getNumReduceTasks();
            id = conf.getInt(ID, 0);
            long all = NumberedRecord.count(conf.getLong(SHUFFLE, 0));
            wanted = all / reduces + (self < all % reduces ? 1 : 0);
            emitter = new Emitter(conf, WRITE, self, reduces);
        }

        @Override
        protected void reduce(BytesWritable record, Iterable<NullWritable> copies, Context context)
                throws IOException, InterruptedException {
            for (NullWritable ignored : copies) {
                context.getCounter(Tally.SHUFFLE).increment(record.getLength());
                long number = NumberedRecord.number(record.getBytes());
                boolean mine = NumberedRecord.intact(record.getBytes(), record.getLength(), id) && number % reduces == self;
                if (!mine || seen.get((int) (number / reduces))) {
                    context.getCounter(Tally.WRONG_RECORDS).increment(1);
                } else {
                    seen.set((int) (number / reduces));
                }
                emit(++came, context);
            }
        }

        @Override
        protected void cleanup(Context context) throws IOException, InterruptedException {
            context.getCounter(Tally.WRONG_RECORDS).increment(wanted - seen.cardinality());
            emit(wanted, context);
        }

        private void emit(long done, Context context) throws IOException, InterruptedException {
            long bytes = emitter.advance(done, wanted, record -> context.write(record, NullWritable.get()));
            context.getCounter(Tally.OUT).increment(bytes);
        }
    }

    /** Files of records, one after the other and nothing between. */
    public static final class Raw extends FileOutputFormat<BytesWritable, NullWritable> {
        @Override
        public RecordWriter<BytesWritable, NullWritable> getRecordWriter(TaskAttemptContext context) throws IOException {
            Path file = getDefaultWorkFile(context, "");
            FSDataOutputStream out = file.getFileSystem(context.getConfiguration()).create(file, false);
            return new RecordWriter<BytesWritable, NullWritable>() {
                @Override
                public void write(BytesWritable record, NullWritable nothing) throws IOException {
                    out.write(record.getBytes(), 0, record.getLength());
                }

                @Override
                public void close(TaskAttemptContext task) throws IOException {
                    out.close();
                }
            };
        }
    }
}
