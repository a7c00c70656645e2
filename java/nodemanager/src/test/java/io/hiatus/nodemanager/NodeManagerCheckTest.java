package io.hiatus.nodemanager;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.Before;
import org.junit.Test;

public class NodeManagerCheckTest {
    private final Configuration conf = new YarnConfiguration();

    @Before
    public void aNodeThatSuspends() {
        conf.set(YarnConfiguration.NM_CONTAINER_EXECUTOR, HiatusDefaultContainerExecutor.class.getName());
        conf.set(YarnConfiguration.NM_PMEM_MB, "1");
    }

    private void told(String key, String because) {
        String advice = new NodeManagerCheck().apply(conf).get(key);
        assertTrue(key + ": " + advice, advice != null && advice.contains(because));
    }

    @Test
    public void nothingIsSaidOfAGoodOneAndNothingIsChanged() {
        assertEquals(Collections.emptyMap(), new NodeManagerCheck().apply(conf));
        assertEquals(null, conf.get(YarnConfiguration.NM_NODE_ATTRIBUTES_PROVIDER_CONFIG));
    }

    @Test
    public void withoutTheExecutorNothingIsSuspended() {
        conf.unset(YarnConfiguration.NM_CONTAINER_EXECUTOR);
        told(YarnConfiguration.NM_CONTAINER_EXECUTOR, "nothing is suspended");
    }

    @Test
    public void whatTheAdministratorRulesOutIsTold() {
        conf.set(YarnConfiguration.NM_OPPORTUNISTIC_CONTAINERS_MAX_QUEUE_LENGTH, "0");
        told(YarnConfiguration.NM_OPPORTUNISTIC_CONTAINERS_MAX_QUEUE_LENGTH, "above 0");
        conf.set(YarnConfiguration.NM_CONTAINER_QUEUING_USE_PAUSE_FOR_PREEMPTION, "false");
        told(YarnConfiguration.NM_CONTAINER_QUEUING_USE_PAUSE_FOR_PREEMPTION, "to true");
    }

    @Test
    public void aSettingThatIsWrongOrDoesNotExistIsTold() {
        conf.set(SuspensionConf.PULSE_INTERVAL_MS, "often");
        told(SuspensionConf.PULSE_INTERVAL_MS, "not a number of milliseconds");
        conf.set(SuspensionConf.PREFIX + "pulse-intervall-ms", "1000");
        told(SuspensionConf.PREFIX + "pulse-intervall-ms", "there are");
    }

    @Test
    public void aNodeThatOffersMoreThanRamAndSwapHoldSuspendsNothing() {
        conf.set(YarnConfiguration.NM_PMEM_MB, "1000000000");
        told(YarnConfiguration.NM_PMEM_MB, "suspends nothing");
    }
}
