package io.hiatus.mapreduce;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.Test;

/** B10 of the specification: the formulas against examples computed by hand. */
public final class BatchMRTest {
    private static final double EXACTLY = 1e-9;
    /** Mean of 100 MB at 10 MB/s: 10 s. */
    private static final BatchMR.Phase TEN_S = new BatchMR.Phase(100, 0.01);
    /** Mean of 60 MB at 20 MB/s: 3 s. */
    private static final BatchMR.Phase THREE_S = new BatchMR.Phase(60, 0.02);
    private static final List<BatchMR.Phase> NOTHING = Collections.emptyList();

    @Test
    public void b10Formula1TheNewestObservationWeighsThreeTenths() {
        assertEquals(10, BatchMR.ewma(Double.NaN, 10), EXACTLY);
        assertEquals(13, BatchMR.ewma(10, 20), EXACTLY); // 0.3 × 20 + 0.7 × 10
        assertEquals(9.1, BatchMR.ewma(13, 0), EXACTLY);
    }

    @Test
    public void b10Formula3WhatIsLeftNowAndThePhasesToCome() {
        // 50 MB left at 5 MB/s are 10 s; twice the mean's data makes of 10 s and 3 s 26 s.
        assertEquals(36_000, BatchMR.remaining(50, 0.005, 2, Arrays.asList(TEN_S, THREE_S)), EXACTLY);
        assertEquals(10_000, BatchMR.remaining(50, 0.005, 2, NOTHING), EXACTLY);
    }

    @Test
    public void b10Formula4AllPhasesByPlaceAndSize() {
        assertEquals(13_000, BatchMR.backup(1, 1, Arrays.asList(TEN_S, THREE_S)), EXACTLY);
        assertEquals(6_500, BatchMR.backup(1, 0.5, Arrays.asList(TEN_S, THREE_S)), EXACTLY);
        assertEquals("off rack now, beside its data then", 13_000 / 3.0, BatchMR.backup(1 / 3.0, 1, Arrays.asList(TEN_S, THREE_S)), EXACTLY);
    }

    @Test
    public void nothingLeftTakesNoTimeAtAnySpeedAndNoSpeedTakesForEver() {
        assertEquals(0, BatchMR.remaining(0, 0, 1, NOTHING), EXACTLY);
        assertTrue(Double.isInfinite(BatchMR.remaining(1, 0, 1, NOTHING)));
    }
}
