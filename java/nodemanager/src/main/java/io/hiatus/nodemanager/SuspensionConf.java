package io.hiatus.nodemanager;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/**
 * The NodeManager's settings, all below {@code yarn.nodemanager.hiatus.}, read once when the executor is initialised.
 */
public final class SuspensionConf {
    /** What every key starts with. */
    public static final String PREFIX = "yarn.nodemanager.hiatus.";

    /**
     * Milliseconds, default 1000: how long processes that handle SIGTSTP may take to stop by themselves before SIGSTOP
     * stops them. 0 sends no notice. A container in which no process handles SIGTSTP never waits.
     */
    public static final String NOTICE_GRACE_MS = PREFIX + "notice-grace-ms";
    /** Default of {@link #NOTICE_GRACE_MS}. */
    public static final long DEFAULT_NOTICE_GRACE_MS = 1_000;

    /**
     * Milliseconds, default 5000, more than 0: in this time every process of a container must have been seen stopped
     * (or running again); otherwise the pause (or the resumption) has failed and the NodeManager kills the container.
     */
    public static final String SIGNAL_TIMEOUT_MS = PREFIX + "signal-timeout-ms";
    /** Default of {@link #SIGNAL_TIMEOUT_MS}. */
    public static final long DEFAULT_SIGNAL_TIMEOUT_MS = 5_000;

    /**
     * Milliseconds, default 30000: how long after its processes last ran a suspended container is let run for a moment, so
     * that the heartbeats of its processes (task time-outs, Spark executors, HDFS leases) stay alive. Spark's time-out is 120 s, of
     * a heartbeat every 10 s: two pulses in a row may fail. 0 turns pulses off.
     */
    public static final String PULSE_INTERVAL_MS = PREFIX + "pulse-interval-ms";
    /** Default of {@link #PULSE_INTERVAL_MS}. */
    public static final long DEFAULT_PULSE_INTERVAL_MS = 30_000;

    /** Milliseconds, default 1000, more than 0 and less than the interval: how long a pulse lasts. */
    public static final String PULSE_LENGTH_MS = PREFIX + "pulse-length-ms";
    /** Default of {@link #PULSE_LENGTH_MS}. */
    public static final long DEFAULT_PULSE_LENGTH_MS = 1_000;

    /**
     * Boolean, default true: freeze a container through its cgroup (v1 freezer or v2) where it has one of its own that
     * the NodeManager may write; signals are used everywhere else.
     */
    public static final String FREEZER_ENABLED = PREFIX + "freezer.enabled";
    /** Default of {@link #FREEZER_ENABLED}. */
    public static final boolean DEFAULT_FREEZER_ENABLED = true;

    /**
     * Milliseconds, default 600000: how long after the NodeManager's death its suspended containers stay stopped, for the
     * next NodeManager to take them over; then they are let run, to find out that they are no longer wanted. It should be
     * {@code yarn.nm.liveness-monitor.expiry-interval-ms}, after which the ResourceManager gives up a node.
     */
    public static final String ORPHAN_GRACE_MS = PREFIX + "orphan-grace-ms";
    /** Default of {@link #ORPHAN_GRACE_MS}. */
    public static final long DEFAULT_ORPHAN_GRACE_MS = 600_000;

    private static final List<String> KEYS = Arrays.asList(NOTICE_GRACE_MS, SIGNAL_TIMEOUT_MS, PULSE_INTERVAL_MS, PULSE_LENGTH_MS,
        FREEZER_ENABLED, ORPHAN_GRACE_MS);

    final long noticeGraceMs;
    final long signalTimeoutMs;
    final long pulseIntervalMs;
    final long pulseLengthMs;
    final boolean freezerEnabled;
    final long orphanGraceMs;

    /**
     * Reads and checks the settings.
     *
     * @throws IllegalArgumentException names the key, its value and what is allowed
     */
    public SuspensionConf(Configuration conf) {
        noticeGraceMs = millis(conf, NOTICE_GRACE_MS, DEFAULT_NOTICE_GRACE_MS, 0);
        signalTimeoutMs = millis(conf, SIGNAL_TIMEOUT_MS, DEFAULT_SIGNAL_TIMEOUT_MS, 1);
        pulseIntervalMs = millis(conf, PULSE_INTERVAL_MS, DEFAULT_PULSE_INTERVAL_MS, 0);
        pulseLengthMs = millis(conf, PULSE_LENGTH_MS, DEFAULT_PULSE_LENGTH_MS, 1);
        if (pulseIntervalMs > 0 && pulseLengthMs >= pulseIntervalMs) {
            throw new IllegalArgumentException(PULSE_LENGTH_MS + "=" + pulseLengthMs + " must be less than "
                + PULSE_INTERVAL_MS + "=" + pulseIntervalMs + " (0 there turns pulses off)");
        }
        orphanGraceMs = millis(conf, ORPHAN_GRACE_MS, DEFAULT_ORPHAN_GRACE_MS, 0);
        freezerEnabled = bool(conf, FREEZER_ENABLED, DEFAULT_FREEZER_ENABLED);
    }

    /** By key, which settings do not exist, and the first that is wrong: with that one a NodeManager would not start. */
    static Map<String, String> wrong(Configuration conf) {
        Map<String, String> wrong = new LinkedHashMap<>();
        conf.getPropsWithPrefix(PREFIX).keySet().stream().map(PREFIX::concat).filter(key -> !KEYS.contains(key))
            .forEach(key -> wrong.put(key, "no such property; there are " + String.join(", ", KEYS)));
        try {
            new SuspensionConf(conf);
        } catch (IllegalArgumentException e) {
            String key = e.getMessage().substring(0, e.getMessage().indexOf('='));
            wrong.put(key, e.getMessage());
        }
        return wrong;
    }

    private static long millis(Configuration conf, String key, long byDefault, long atLeast) {
        String value = conf.getTrimmed(key);
        if (value == null || value.isEmpty()) {
            return byDefault;
        }
        long millis;
        try {
            millis = Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + "=" + value + " is not a number of milliseconds", e);
        }
        if (millis < atLeast) {
            throw new IllegalArgumentException(key + "=" + value + " must be at least " + atLeast + " ms");
        }
        return millis;
    }

    private static boolean bool(Configuration conf, String key, boolean byDefault) {
        String value = conf.getTrimmed(key);
        if (value == null || value.isEmpty()) {
            return byDefault;
        }
        if (!value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false")) {
            throw new IllegalArgumentException(key + "=" + value + " is neither true nor false");
        }
        return Boolean.parseBoolean(value);
    }
}
