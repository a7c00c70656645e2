package io.hiatus.mapreduce;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesRequest;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ContainerSubState;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.client.api.impl.ContainerManagementProtocolProxy;
import org.apache.hadoop.yarn.client.api.impl.ContainerManagementProtocolProxy.ContainerManagementProtocolProxyData;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * The nodes themselves, asked for the state of containers in the protocol by which the ApplicationMaster starts them, with the
 * token of the node that it has for that.
 */
final class NodeManagers implements Containers {
    /** Of YARN's client for that protocol, which keeps the name to itself. */
    private static final String COMMAND_TIMEOUT_MS = "yarn.rpc.nm-command-timeout";
    private static final int PATIENCE_MS = 5_000;

    private final ContainerManagementProtocolProxy proxies;

    /** A node that does not answer costs seconds here, not the minutes for which stock waits to start a container. */
    NodeManagers(Configuration conf) {
        Configuration impatient = new Configuration(conf);
        impatient.setInt(COMMAND_TIMEOUT_MS, PATIENCE_MS);
        impatient.setInt(YarnConfiguration.CLIENT_NM_CONNECT_MAX_WAIT_MS, PATIENCE_MS);
        impatient.setInt(YarnConfiguration.CLIENT_NM_CONNECT_RETRY_INTERVAL_MS, PATIENCE_MS);
        impatient.setInt(CommonConfigurationKeysPublic.IPC_CLIENT_CONNECT_TIMEOUT_KEY, PATIENCE_MS);
        impatient.setInt(CommonConfigurationKeysPublic.IPC_CLIENT_CONNECT_MAX_RETRIES_KEY, 0);
        impatient.setInt(CommonConfigurationKeys.IPC_CLIENT_CONNECT_MAX_RETRIES_ON_SOCKET_TIMEOUTS_KEY, 0);
        proxies = new ContainerManagementProtocolProxy(impatient);
    }

    @Override
    public Set<ContainerId> suspended(String node, Collection<ContainerId> containers) throws IOException, YarnException {
        List<ContainerId> asked = new ArrayList<>(containers);
        ContainerManagementProtocolProxyData proxy = proxies.getProxy(node, asked.get(0));
        try {
            Set<ContainerId> suspended = new HashSet<>();
            for (ContainerStatus status : proxy.getContainerManagementProtocol()
                    .getContainerStatuses(GetContainerStatusesRequest.newInstance(asked)).getContainerStatuses()) {
                if (isSuspended(status)) {
                    suspended.add(status.getContainerId());
                }
            }
            return suspended;
        } finally {
            proxies.mayBeCloseProxy(proxy);
        }
    }

    /**
     * What stands still because its room is needed is paused. What somebody parked by hand is not: its node believes that it runs.
     * But it was demoted for that, and nothing is asked of the node about containers that can be seen to work.
     */
    static boolean isSuspended(ContainerStatus status) {
        return status.getContainerSubState() == ContainerSubState.PAUSED || status.getExecutionType() == ExecutionType.OPPORTUNISTIC;
    }
}
