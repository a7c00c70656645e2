package io.hiatus.nodemanager;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.NodeAttribute;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.nodelabels.NodeLabelUtil;
import org.apache.hadoop.yarn.server.nodemanager.nodelabels.NodeAttributesProvider;
import org.junit.Test;

public class NodeManagerSetupTest {
    private final YarnConfiguration conf = new YarnConfiguration();

    @Test
    public void aStockConfigurationBecomesOneThatSuspends() throws Exception {
        assertTrue(NodeManagerSetup.prepare(conf));
        assertTrue(conf.getBoolean(YarnConfiguration.NM_CONTAINER_QUEUING_USE_PAUSE_FOR_PREEMPTION, false));
        assertEquals(1_000, conf.getInt(YarnConfiguration.NM_OPPORTUNISTIC_CONTAINERS_MAX_QUEUE_LENGTH, 0));
        assertEquals(HiatusContainersLauncher.class,
            conf.getClass(YarnConfiguration.NM_CONTAINERS_LAUNCHER_CLASS, null));
        assertEquals("[hiatus-suspend=1]", announced());
    }

    @Test
    public void whatTheAdministratorSetIsKeptAndRulesTheAnnouncementOut() {
        refused(YarnConfiguration.NM_CONTAINER_QUEUING_USE_PAUSE_FOR_PREEMPTION, "false");
        refused(YarnConfiguration.NM_OPPORTUNISTIC_CONTAINERS_MAX_QUEUE_LENGTH, "0");
        refused(YarnConfiguration.NM_OPPORTUNISTIC_CONTAINERS_QUEUE_POLICY, "BY_RESOURCES");
        refused(YarnConfiguration.NM_CONTAINERS_LAUNCHER_CLASS, "org.example.Launcher");
    }

    private static void refused(String key, String value) {
        YarnConfiguration theirs = new YarnConfiguration();
        theirs.set(key, value);
        assertFalse(key, NodeManagerSetup.prepare(theirs));
        assertEquals(value, theirs.get(key));
        assertEquals(null, theirs.get(YarnConfiguration.NM_NODE_ATTRIBUTES_PROVIDER_CONFIG));
    }

    @Test
    public void aFittingValueOfTheAdministratorIsKept() {
        conf.setInt(YarnConfiguration.NM_OPPORTUNISTIC_CONTAINERS_MAX_QUEUE_LENGTH, 7);
        conf.setBoolean(YarnConfiguration.NM_CONTAINER_QUEUING_USE_PAUSE_FOR_PREEMPTION, true);
        assertTrue(NodeManagerSetup.prepare(conf));
        assertEquals(7, conf.getInt(YarnConfiguration.NM_OPPORTUNISTIC_CONTAINERS_MAX_QUEUE_LENGTH, 0));
    }

    @Test
    public void theAdministratorsOwnAttributesAreAnnouncedToo() throws Exception {
        conf.set(YarnConfiguration.NM_NODE_ATTRIBUTES_PROVIDER_CONFIG, Rack.class.getName());
        assertTrue(NodeManagerSetup.prepare(conf));
        assertTrue(NodeManagerSetup.prepare(conf)); // a second time changes nothing
        assertEquals("[hiatus-suspend=1, rack=r7]", announced());
    }

    @Test
    public void yarnsOwnProvidersAreTakenAlong() throws Exception {
        conf.set(YarnConfiguration.NM_NODE_ATTRIBUTES_PROVIDER_CONFIG, "Config");
        assertTrue(NodeManagerSetup.prepare(conf));
        assertEquals("[hiatus-suspend=1]", announced());
    }

    @Test
    public void theMachinesSwapIsRead() {
        assertEquals(OptionalLong.of(2047), ProcFs.swapMb(Arrays.asList(
            "MemTotal:       24117248 kB", "SwapTotal:       2097148 kB", "SwapFree:              0 kB")));
        assertEquals(OptionalLong.of(0), ProcFs.swapMb(Arrays.asList("SwapTotal:             0 kB")));
        assertEquals(OptionalLong.empty(), ProcFs.swapMb(Arrays.asList("MemTotal:       24117248 kB")));
    }

    /** As the NodeManager asks its provider, the machine's swap aside. */
    private String announced() throws Exception {
        NodeAttributesProvider provider = (NodeAttributesProvider) conf.getClass(
            YarnConfiguration.NM_NODE_ATTRIBUTES_PROVIDER_CONFIG, null).getConstructor().newInstance();
        provider.init(conf);
        provider.start();
        Set<NodeAttribute> attributes = provider.getDescriptors();
        provider.stop();
        NodeLabelUtil.validateNodeAttributes(attributes);
        for (NodeAttribute attribute : attributes) {
            assertEquals("nm.yarn.io", attribute.getAttributeKey().getAttributePrefix());
        }
        return attributes.stream()
            .filter(a -> !a.getAttributeKey().getAttributeName().equals(HiatusNodeAttributesProvider.SWAP_ATTRIBUTE))
            .map(a -> a.getAttributeKey().getAttributeName() + "=" + a.getAttributeValue())
            .sorted().collect(Collectors.toList()).toString();
    }

    /** An administrator's own provider. */
    public static final class Rack extends NodeAttributesProvider {
        public Rack() {
            super("rack");
        }

        @Override
        public java.util.TimerTask createTimerTask() {
            return new java.util.TimerTask() {
                @Override
                public void run() {
                    setDescriptors(java.util.Collections.singleton(NodeAttribute.newInstance(
                        NodeAttribute.PREFIX_DISTRIBUTED, "rack",
                        org.apache.hadoop.yarn.api.records.NodeAttributeType.STRING, "r7")));
                }
            };
        }

        @Override
        protected void cleanUp() {
        }
    }
}
