package io.hiatus.nodemanager;

import java.util.HashSet;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TimerTask;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.yarn.api.records.NodeAttribute;
import org.apache.hadoop.yarn.api.records.NodeAttributeType;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.nodemanager.nodelabels.ConfigurationNodeAttributesProvider;
import org.apache.hadoop.yarn.server.nodemanager.nodelabels.NodeAttributesProvider;
import org.apache.hadoop.yarn.server.nodemanager.nodelabels.ScriptBasedNodeAttributesProvider;

/**
 * Announces to the ResourceManager that this node can suspend and how much swap its machine has, as node attributes next to
 * those of the provider that the administrator has configured, if any. {@link NodeManagerSetup} puts it there. (Adding to the attributes of
 * YARN's own "config" provider would be lost: it reads the configuration files again.)
 */
public final class HiatusNodeAttributesProvider extends NodeAttributesProvider {
    /**
     * The attribute: {@code nm.yarn.io/hiatus-suspend}, of type STRING. Its value is the number of the contract between
     * the two sides, now {@value #CONTRACT}: a demoted container is paused when its room is needed, not killed.
     */
    public static final String ATTRIBUTE = "hiatus-suspend";
    /** The value of {@link #ATTRIBUTE}. */
    public static final String CONTRACT = "1";
    /** Set by {@link NodeManagerSetup}: the administrator's own provider, which this one takes along; may be empty. */
    static final String DELEGATE = SuspensionConf.PREFIX + "node-attributes.provider";

    /** The attribute that tells how much swap the machine has now, in MiB: {@code nm.yarn.io/hiatus-swap-mb}. */
    public static final String SWAP_ATTRIBUTE = "hiatus-swap-mb";

    private NodeAttributesProvider delegate;

    /** YARN makes it by reflection. */
    public HiatusNodeAttributesProvider() {
        super("Hiatus node attributes");
    }

    @Override
    protected void serviceInit(Configuration conf) throws Exception {
        delegate = delegate(conf);
        if (delegate != null) {
            delegate.init(conf);
        }
        super.serviceInit(conf);
    }

    /** As the NodeManager itself would make it. */
    private static NodeAttributesProvider delegate(Configuration conf) {
        String name = conf.getTrimmed(DELEGATE, "");
        switch (name.toLowerCase(Locale.ROOT)) {
            case "":
                return null;
            case YarnConfiguration.CONFIG_NODE_DESCRIPTOR_PROVIDER:
                return new ConfigurationNodeAttributesProvider();
            case YarnConfiguration.SCRIPT_NODE_DESCRIPTOR_PROVIDER:
                return new ScriptBasedNodeAttributesProvider();
            default:
                return ReflectionUtils.newInstance(
                    conf.getClass(DELEGATE, null, NodeAttributesProvider.class), conf);
        }
    }

    @Override
    protected void serviceStart() throws Exception {
        if (delegate != null) {
            delegate.start();
        }
        super.serviceStart();
    }

    @Override
    public Set<NodeAttribute> getDescriptors() {
        Set<NodeAttribute> all = ours();
        if (delegate != null && delegate.getDescriptors() != null) {
            all.addAll(delegate.getDescriptors());
        }
        return all;
    }

    private static Set<NodeAttribute> ours() {
        Set<NodeAttribute> ours = new HashSet<>();
        ours.add(attribute(ATTRIBUTE, CONTRACT));
        OptionalLong swapMb = ProcFs.swapMb();
        if (swapMb.isPresent()) {
            ours.add(attribute(SWAP_ATTRIBUTE, String.valueOf(swapMb.getAsLong())));
        }
        return ours;
    }

    private static NodeAttribute attribute(String name, String value) {
        return NodeAttribute.newInstance(NodeAttribute.PREFIX_DISTRIBUTED, name, NodeAttributeType.STRING, value);
    }

    /** Nothing to fetch: the delegate has a timer of its own. The base class runs this once. */
    @Override
    public TimerTask createTimerTask() {
        return new TimerTask() {
            @Override
            public void run() {
                setDescriptors(ours());
            }
        };
    }

    @Override
    protected void cleanUp() {
        if (delegate != null) {
            delegate.stop();
        }
    }
}
