package io.hiatus.nodemanager;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.junit.Test;

public class SuspensionConfTest {
    private final Configuration conf = new Configuration(false);

    @Test
    public void everythingHasADefault() {
        SuspensionConf read = new SuspensionConf(conf);
        assertEquals(1_000, read.noticeGraceMs);
        assertEquals(5_000, read.signalTimeoutMs);
        assertEquals(30_000, read.pulseIntervalMs);
        assertEquals(1_000, read.pulseLengthMs);
        assertEquals(600_000, read.orphanGraceMs);
        assertTrue(read.freezerEnabled);
    }

    /** A heartbeat every 10 s keeps a Spark executor, if one comes within 120 s; a MapReduce task has 600 s. */
    @Test
    public void byDefaultSparksTimeOutOutlastsTwoPulsesThatFail() {
        SuspensionConf read = new SuspensionConf(conf);
        long lastHeartbeatBefore = 10_000;
        long threeIntervals = 3 * read.pulseIntervalMs + 2 * read.pulseLengthMs + read.signalTimeoutMs;
        assertTrue(lastHeartbeatBefore + threeIntervals < 120_000);
    }

    @Test
    public void zeroTurnsPulsesAndNoticeOff() {
        conf.set(SuspensionConf.PULSE_INTERVAL_MS, "0");
        conf.set(SuspensionConf.NOTICE_GRACE_MS, " 0 ");
        assertEquals(0, new SuspensionConf(conf).pulseIntervalMs);
        assertEquals(0, new SuspensionConf(conf).noticeGraceMs);
    }

    @Test
    public void aWrongValueIsRefusedWithItsKeyAndWhatIsAllowed() {
        refused(SuspensionConf.PULSE_INTERVAL_MS, "2m", "not a number of milliseconds");
        refused(SuspensionConf.NOTICE_GRACE_MS, "-1", "at least 0 ms");
        refused(SuspensionConf.SIGNAL_TIMEOUT_MS, "0", "at least 1 ms");
        refused(SuspensionConf.FREEZER_ENABLED, "yes", "neither true nor false");
        refused(SuspensionConf.PULSE_LENGTH_MS, "30000", "less than " + SuspensionConf.PULSE_INTERVAL_MS);
    }

    private void refused(String key, String value, String because) {
        conf.set(key, value);
        String message =
            assertThrows(IllegalArgumentException.class, () -> new SuspensionConf(conf)).getMessage();
        assertTrue(message, message.startsWith(key + "=" + value) && message.contains(because));
        conf.unset(key);
    }
}
