package io.hiatus.nodemanager;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a stock NodeManager one that suspends, in the configuration it was started with: executors are initialised
 * before the services that read these settings are made. What the administrator has set is never overruled: where it
 * rules suspension out, the node does not announce itself, and the log says what to change.
 */
final class NodeManagerSetup {
    private static final Logger LOG = LoggerFactory.getLogger(NodeManagerSetup.class);

    /**
     * Also limits how many demoted containers may wait here before they are first launched; one too many is killed. So
     * it is far from what a node holds.
     */
    private static final int QUEUE_LENGTH = 1_000;

    private NodeManagerSetup() {
    }

    /**
     * Sets what is unset and, if the node can suspend, has it announce so as a node attribute.
     *
     * @return whether it can
     */
    static boolean prepare(Configuration conf) {
        Map<String, String> obstacles = obstacles(conf);
        if (!obstacles.isEmpty()) {
            LOG.error("This node CANNOT SUSPEND containers and does not announce itself. To change that: {}",
                String.join("; ", obstacles.values()));
            return false;
        }
        announce(conf);
        return true;
    }

    /** Sets what is unset, and tells what the administrator has set that rules suspension out: by key, what to do. */
    static Map<String, String> obstacles(Configuration conf) {
        Map<String, String> obstacles = new LinkedHashMap<>();
        String pause = YarnConfiguration.NM_CONTAINER_QUEUING_USE_PAUSE_FOR_PREEMPTION;
        if (unset(conf, pause)) {
            conf.setBoolean(pause, true);
        } else if (!conf.getBoolean(pause, false)) {
            obstacles.put(pause, "set " + pause + " to true: demoted containers are killed otherwise");
        }

        String length = YarnConfiguration.NM_OPPORTUNISTIC_CONTAINERS_MAX_QUEUE_LENGTH;
        if (unset(conf, length)) {
            conf.setInt(length, QUEUE_LENGTH);
        } else if (conf.getInt(length, 0) <= 0) {
            obstacles.put(length, "set " + length + " above 0: containers start without waiting for room otherwise");
        }
        String policy = YarnConfiguration.NM_PREFIX + "opportunistic-containers-queue-policy"; // not in Hadoop 3.3
        if (!unset(conf, policy) && !"BY_QUEUE_LEN".equals(conf.getTrimmed(policy))) {
            obstacles.put(policy, "set " + policy + " to BY_QUEUE_LEN: no other looks at the queue length");
        }

        String launcher = YarnConfiguration.NM_CONTAINERS_LAUNCHER_CLASS;
        String ours = HiatusContainersLauncher.class.getName();
        if (unset(conf, launcher)) {
            conf.set(launcher, ours);
        } else if (!ours.equals(conf.getTrimmed(launcher))) {
            obstacles.put(launcher, "set " + launcher + " to " + ours + ": no other resumes a container twice, or after a restart");
        }

        return obstacles;
    }

    private static void announce(Configuration conf) {
        String provider = YarnConfiguration.NM_NODE_ATTRIBUTES_PROVIDER_CONFIG;
        String ours = HiatusNodeAttributesProvider.class.getName();
        String theirs = conf.getTrimmed(provider, "");
        if (!theirs.equals(ours)) {
            conf.set(HiatusNodeAttributesProvider.DELEGATE, theirs);
            conf.set(provider, ours);
        }
    }

    private static boolean unset(Configuration conf, String key) {
        String value = conf.getTrimmed(key);
        if (value == null || value.isEmpty()) {
            return true;
        }
        String[] sources = conf.getPropertySources(key);
        return sources != null && Arrays.asList(sources).get(sources.length - 1).endsWith("yarn-default.xml");
    }
}
