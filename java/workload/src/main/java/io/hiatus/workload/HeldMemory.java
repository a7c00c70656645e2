package io.hiatus.workload;

import java.util.Arrays;
import java.util.Random;

/** Memory filled with pseudo-random values: dirty pages that the kernel can only keep or swap out, and that can be checked later. */
final class HeldMemory {
    private static final int CHUNK_BYTES = 1 << 20;

    private final byte[][] chunks;
    private final long seed;

    HeldMemory(int megabytes, long seed) {
        this.seed = seed;
        chunks = new byte[megabytes][];
        for (int chunk = 0; chunk < megabytes; chunk++) {
            chunks[chunk] = content(chunk);
        }
    }

    private byte[] content(int chunk) {
        byte[] bytes = new byte[CHUNK_BYTES];
        new Random(seed + chunk).nextBytes(bytes);
        return bytes;
    }

    /** Reads everything back; how many chunks are not what they were. */
    int wrongChunks() {
        int wrong = 0;
        for (int chunk = 0; chunk < chunks.length; chunk++) {
            wrong += Arrays.equals(chunks[chunk], content(chunk)) ? 0 : 1;
        }
        return wrong;
    }
}
