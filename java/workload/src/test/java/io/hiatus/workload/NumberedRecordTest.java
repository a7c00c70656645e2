package io.hiatus.workload;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.Test;

public class NumberedRecordTest {
    private static final int JOB = 7;

    @Test
    public void recordsTogetherAreAsManyBytesAsAskedFor() {
        for (long total : new long[] {100, 199, 200, 1234, 100_000}) {
            long bytes = LongStream.range(0, NumberedRecord.count(total)).map(number -> NumberedRecord.of(JOB, number, total).length).sum();
            assertEquals(total, bytes);
        }
    }

    @Test
    public void aRecordKnowsItsNumberAndIsIntact() {
        for (long number : new long[] {0, 1, 41}) {
            byte[] record = NumberedRecord.of(JOB, number, 4242);
            assertEquals(number, NumberedRecord.number(record));
            assertTrue(NumberedRecord.intact(record, record.length, JOB));
        }
    }

    @Test
    public void whateverByteChangesTheRecordIsNotIntact() {
        byte[] record = NumberedRecord.of(JOB, 3, 450);
        for (int at = 0; at < record.length; at++) {
            byte[] changed = record.clone();
            changed[at] ^= 1;
            assertFalse("byte " + at, NumberedRecord.intact(changed, changed.length, JOB));
        }
        assertFalse("of another job", NumberedRecord.intact(record, record.length, JOB + 1));
        assertFalse("cut short", NumberedRecord.intact(record, record.length - 1, JOB));
    }

    private static byte[] filler(long number) {
        return Arrays.copyOfRange(NumberedRecord.of(JOB, number, 300), 16, 96);
    }

    @Test
    public void recordsDiffer() {
        assertFalse(Arrays.equals(filler(0), filler(1)));
    }
}
