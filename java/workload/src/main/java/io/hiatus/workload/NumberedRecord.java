package io.hiatus.workload;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/**
 * The records that a {@link BytesJob} shuffles or writes: so many bytes in all, cut into records of {@value #BYTES} bytes, the last one
 * longer by what is left. Each holds its length, its job, its number, bytes that do not compress, and a CRC of all that.
 */
final class NumberedRecord {
    /** Length of all records but the last one. */
    static final int BYTES = 100;
    private static final int JOB_AT = 4, NUMBER_AT = 8, HEADER = 16, CRC = 4;

    private NumberedRecord() { }

    /** How many records so many bytes are. */
    static long count(long total) {
        return total / BYTES;
    }

    /** Record {@code number}, from 0, of {@code total} bytes of this job. */
    static byte[] of(int job, long number, long total) {
        byte[] record = new byte[(int) (number < count(total) - 1 ? BYTES : BYTES + total % BYTES)];
        ByteBuffer buffer = ByteBuffer.wrap(record).putInt(record.length).putInt(job).putLong(number);
        long random = job * 0x9E3779B97F4A7C15L ^ number + 1;
        for (int at = HEADER; at < record.length - CRC; at++) {
            if ((at - HEADER) % Long.BYTES == 0) { // Marsaglia's xorshift: as many bytes a second as a disk takes
                random ^= random << 13;
                random ^= random >>> 7;
                random ^= random << 17;
            }
            record[at] = (byte) (random >>> 8 * ((at - HEADER) % Long.BYTES));
        }
        buffer.putInt(record.length - CRC, crc(record, record.length - CRC));
        return record;
    }

    /** Number of a record. */
    static long number(byte[] record) {
        return ByteBuffer.wrap(record).getLong(NUMBER_AT);
    }

    /** Whether the first {@code length} bytes are a record of this job as it was made. */
    static boolean intact(byte[] record, int length, int job) {
        ByteBuffer buffer = ByteBuffer.wrap(record, 0, length);
        return length >= BYTES && buffer.getInt(0) == length && buffer.getInt(JOB_AT) == job && endsInItsCrc(record, length);
    }

    /** Whether the last four of these bytes are the CRC of those before. */
    static boolean endsInItsCrc(byte[] record, int length) {
        return ByteBuffer.wrap(record).getInt(length - CRC) == crc(record, length - CRC);
    }

    private static int crc(byte[] bytes, int length) {
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }
}
