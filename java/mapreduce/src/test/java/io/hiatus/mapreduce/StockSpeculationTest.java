package io.hiatus.mapreduce;

import static org.junit.Assert.assertEquals;

import io.hiatus.mapreduce.SimulatedJob.Worker;
import java.util.Collections;
import org.apache.hadoop.mapreduce.v2.app.speculate.LegacyTaskRuntimeEstimator;
import org.junit.Test;

/** Why there are estimators of our own: what stock's makes of the jobs of {@link SpeculationTest}. */
public final class StockSpeculationTest {
    private final SimulatedJob job = new SimulatedJob(containers -> new LegacyTaskRuntimeEstimator());

    @Test
    public void equalMapsAreLeftAlone() {
        job.launch(40, 40, 40, 40);
        job.run(45);
        assertEquals(Collections.emptySet(), job.backedUp());
    }

    @Test
    public void aSuspendedMapIsBackedUp() {
        job.launch(40, 40, 40);
        Worker suspended = job.launch(40);
        job.run(13);
        suspended.suspend();
        job.run(60);
        assertEquals(Collections.singleton(3), job.backedUp());
    }
}
