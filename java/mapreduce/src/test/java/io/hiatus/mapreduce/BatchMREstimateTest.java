package io.hiatus.mapreduce;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Random;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.Test;

/** What attempts' reports make of the formulas. */
public final class BatchMREstimateTest {
    private static final JobId JOB = MRBuilderUtils.newJobId(ApplicationId.newInstance(1, 1), 1);
    private static final long INTERVAL_MS = 6_000;
    private int launched;

    private Phased map(Phases.Means means) {
        return launch(TaskType.MAP, Phases.MAP, means);
    }

    private Phased launch(TaskType type, Phases phases, Phases.Means means) {
        return new Phased(MRBuilderUtils.newTaskAttemptId(MRBuilderUtils.newTaskId(JOB, launched++, type), 0), 0, INTERVAL_MS, phases, means);
    }

    private static void report(Phased attempt, double atS, double progress, long bytes) {
        TaskAttemptStatus status = new TaskAttemptStatus();
        status.progress = (float) progress;
        status.counters = new Counters();
        status.counters.findCounter(FileInputFormatCounter.BYTES_READ).setValue(bytes);
        status.counters.findCounter(TaskCounter.REDUCE_SHUFFLE_BYTES).setValue(bytes);
        attempt.report(status, Math.round(atS * 1000));
    }

    @Test
    public void b10AnAttemptGoesOnAtItsPresentSpeedThroughItsPhaseAndAtTheMeanSpeedsThroughTheOthers() {
        Phases.Means means = Phases.MAP.means();
        Phased done = map(means);
        report(done, 10, 0.667, 1000); // its 1000 bytes mapped in 10 s: 100 B/s
        report(done, 15, 1, 1000); // and sorted in 5 s: 200 B/s
        Phased slow = map(means);
        report(slow, 10, 0.0667, 200); // a tenth of its 2000 bytes
        report(slow, 20, 0.1334, 400); // and another: 1 % of them a second, 80 s for the rest
        // (3): sorting takes it 2000 / 1500 of the mean data's time. Means: mapped 1500 bytes at (100 + 20) / 2 B/s; sorted 1000 at 200 B/s.
        assertEquals(80_000 + 2000 / 1500.0 * 5_000, slow.remainingMs(), 10);
        // (4)
        assertEquals(2000 / 1500.0 * (1500 / 60.0 + 5) * 1000, slow.backupMs(1), 10);
    }

    @Test
    public void b10ItsPresentSpeedIsAMovingMean() {
        Phased attempt = launch(TaskType.MAP, Phases.MAP_ONLY, Phases.MAP_ONLY.means());
        report(attempt, 10, 0, 0); // its JVM has started, which is no speed
        report(attempt, 20, 0.1, 10);
        report(attempt, 30, 0.4, 40);
        // 0.3 × 3 %/s + 0.7 × 1 %/s = 1.6 %/s
        assertEquals(0.6 / 0.016 * 1000, attempt.remainingMs(), 1);
    }

    @Test
    public void aReduceThatHasCopiedFastIsNotTakenToReduceFast() {
        Phases.Means means = Phases.REDUCE.means();
        Phased done = launch(TaskType.REDUCE, Phases.REDUCE, means);
        report(done, 2, 0.34, 1000);
        report(done, 4, 0.67, 1000);
        report(done, 100, 0.99, 1000); // reducing 97 % took 96 s
        Phased young = launch(TaskType.REDUCE, Phases.REDUCE, means);
        report(young, 2, 0.34, 1000);
        assertTrue(young.remainingMs() + " ms", young.remainingMs() > 95_000);
    }

    @Test
    public void inputThatTellsNoBytesMakesAllOfOneSize() {
        Phases.Means means = Phases.MAP_ONLY.means();
        Phased first = launch(TaskType.MAP, Phases.MAP_ONLY, means);
        Phased second = launch(TaskType.MAP, Phases.MAP_ONLY, means);
        report(first, 10, 0.5, 0);
        report(second, 10, 0.1, 0);
        assertEquals("1 over the mean of 5 %/s and 1 %/s", 1 / 0.03 * 1000, first.backupMs(1), 1);
        assertEquals(first.backupMs(1), second.backupMs(1), 1);
    }

    @Test
    public void atTheEdges() {
        Phased alone = map(Phases.MAP.means());
        assertTrue("nobody has shown any speed", Double.isNaN(alone.remainingMs()));
        report(alone, 10, 0, 0);
        report(alone, 15, 0, 0);
        assertTrue("no progress: for ever", Double.isInfinite(alone.remainingMs()));
        report(alone, 20, 1, 100);
        assertEquals("all done", 0, alone.remainingMs(), 0);
    }

    @Test
    public void whateverIsReportedNoTimeIsNegative() {
        for (int seed = 0; seed < 2_000; seed++) {
            Random random = new Random(seed);
            Phases.Means means = Phases.MAP.means();
            Phased[] attempts = {map(means), map(means), map(means)};
            double[] progress = new double[attempts.length];
            double now = 0;
            for (int step = 0; step < 30; step++) {
                now += random.nextDouble() * 20;
                int one = random.nextInt(attempts.length);
                int kind = random.nextInt(6);
                if (kind == 0) {
                    attempts[one].told(random.nextBoolean(), Math.round(now * 1000), Math.round(now * 1000));
                } else if (kind == 1) {
                    attempts[one].nothingNew(Math.round(now * 1000));
                } else {
                    progress[one] = Math.min(1, Math.max(0, progress[one] + random.nextDouble() * 0.3 - 0.05));
                    report(attempts[one], now, progress[one], random.nextInt(3) * 1000);
                }
                for (Phased attempt : attempts) {
                    assertTrue("seed " + seed + ": " + attempt.remainingMs(), !(attempt.remainingMs() < 0));
                    assertTrue("seed " + seed + ": " + attempt.backupMs(1), attempt.backupMs(1) >= 0);
                    assertTrue("seed " + seed, attempt.workedMs() <= attempt.elapsedMs());
                }
            }
        }
    }
}
