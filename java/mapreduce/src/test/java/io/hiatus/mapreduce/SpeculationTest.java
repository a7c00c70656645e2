package io.hiatus.mapreduce;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import io.hiatus.mapreduce.SimulatedJob.Worker;
import java.util.Arrays;
import java.util.Collections;
import java.util.Set;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

/** What stock's DefaultSpeculator does with attempts that are suspended, slow, or hang, under each of the estimators. */
@RunWith(Parameterized.class)
public final class SpeculationTest {
    private static final Set<Integer> NONE = Collections.emptySet();
    private static final Set<Integer> THE_LAST = Collections.singleton(3);

    @Parameters(name = "{0}")
    public static Iterable<Object[]> estimators() {
        SimulatedJob.Making batchMR = BatchMRTaskRuntimeEstimator::new;
        SimulatedJob.Making late = LateTaskRuntimeEstimator::new;
        return Arrays.asList(new Object[] {"BatchMR", batchMR}, new Object[] {"LATE", late});
    }

    private final SimulatedJob job;
    /** Three maps that end after 40 s; the test makes the fourth. */
    private Worker[] others;

    public SpeculationTest(String name, SimulatedJob.Making making) {
        job = new SimulatedJob(making);
    }

    @Before
    public void launchOthers() {
        others = job.launch(40, 40, 40);
    }

    @Test
    public void equalMapsAreLeftAlone() {
        job.launch(40);
        job.run(45);
        assertTrue(others[0].isDone());
        assertEquals(NONE, job.backedUp());
        assertEquals("who reports in time is not asked about", 0, job.questions());
    }

    @Test
    public void aSlowMapIsBackedUp() {
        job.launch(400);
        job.run(45);
        assertEquals(THE_LAST, job.backedUp());
    }

    @Test
    public void aMapIsSlowBesideMapsThatEndBeforeTheirFirstReportIsDue() {
        SimulatedJob one = fresh();
        one.launch(5, 5, 5);
        one.launch(60);
        one.run(30);
        assertEquals(THE_LAST, one.backedUp());
    }

    @Test
    public void aHangingMapIsBackedUp() {
        Worker hanging = job.launch(40);
        job.run(13);
        hanging.hang();
        job.run(60);
        assertEquals(THE_LAST, job.backedUp());
    }

    @Test
    public void aMapThatNeverBeginsIsBackedUp() {
        job.launch(40).hang();
        job.run(80);
        assertEquals(THE_LAST, job.backedUp());
    }

    @Test
    public void aMapThatIsOnlySlowToStartIsLeftAloneByBatchMR() {
        assumeTrue("LATE takes the mean since the launch", job.estimator() instanceof BatchMRTaskRuntimeEstimator);
        job.run(35);
        Worker late = job.launch(40);
        late.hang();
        job.run(9); // the JVM starts on a busy machine: longer than stock waits for news
        late.begin();
        job.run(45);
        assertTrue(late.isDone());
        assertEquals(NONE, job.backedUp());
    }

    @Test
    public void aMapOnALostNodeIsBackedUp() {
        Worker lost = job.launch(40);
        job.run(13);
        lost.hang();
        job.nodeAnswers(false);
        job.run(60);
        assertEquals(THE_LAST, job.backedUp());
    }

    @Test
    public void aSuspendedMapIsNotBackedUpNorIsItWhenItGoesOn() {
        for (int suspendedS : new int[] {5, 9, 12, 20, 70, 600, 3600}) {
            SimulatedJob one = fresh();
            one.launch(40, 40, 40);
            Worker suspended = one.launch(40);
            one.run(13);
            suspended.suspend();
            one.run(suspendedS);
            suspended.resume();
            one.run(30);
            assertTrue(suspended.isDone());
            assertEquals("suspended for " + suspendedS + " s", NONE, one.backedUp());
        }
    }

    @Test
    public void notEvenIfItWasSuspendedAtOnce() {
        Worker suspended = job.launch(40);
        suspended.suspend();
        job.run(300);
        suspended.resume();
        job.run(50);
        assertTrue(suspended.isDone());
        assertEquals(NONE, job.backedUp());
    }

    @Test
    public void pulsesChangeNothing() {
        Worker suspended = job.launch(40);
        job.run(13);
        for (int pulse = 0; pulse < 5; pulse++) {
            suspended.suspend();
            job.run(119);
            suspended.resume();
            job.run(1);
        }
        assertEquals(NONE, job.backedUp());
    }

    @Test
    public void aSlowMapIsBackedUpAfterItsSuspensionAndNotDuringIt() {
        Worker slow = job.launch(400);
        job.run(35);
        slow.suspend();
        for (int pulse = 0; pulse < 3; pulse++) {
            job.run(119);
            slow.resume();
            job.run(1);
            slow.suspend();
        }
        assertEquals(NONE, job.backedUp());
        slow.resume();
        job.run(15);
        assertEquals(THE_LAST, job.backedUp());
    }

    @Test
    public void aMapThatHangsAfterItsSuspensionIsBackedUp() {
        Worker hanging = job.launch(40);
        job.run(13);
        hanging.suspend();
        job.run(100);
        hanging.hang();
        hanging.resume();
        job.run(150);
        assertEquals(THE_LAST, job.backedUp());
    }

    @Test
    public void aNodeThatIsAwayForAWhileMayStillHoldASuspendedMap() {
        Worker suspended = job.launch(40);
        job.run(13);
        suspended.suspend();
        job.run(30);
        job.nodeAnswers(false);
        job.run(120);
        job.nodeAnswers(true);
        job.run(30);
        suspended.resume();
        job.run(30);
        assertTrue(suspended.isDone());
        assertEquals(NONE, job.backedUp());
    }

    @Test
    public void aSuspendedMapIsAskedAboutOnceAMinute() {
        Worker suspended = job.launch(40);
        job.run(13);
        suspended.suspend();
        job.run(600);
        assertTrue(job.questions() + " questions", job.questions() >= 5 && job.questions() <= 11);
    }

    private SimulatedJob fresh() {
        return new SimulatedJob(job.estimator() instanceof LateTaskRuntimeEstimator
            ? LateTaskRuntimeEstimator::new : BatchMRTaskRuntimeEstimator::new);
    }
}
