package io.hiatus.nodemanager;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.SysInfo;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * What in a NodeManager's configuration keeps it from suspending: by key, what to do. The scheduler's {@code check-config} finds this
 * class by its name, if this jar is on its class path.
 */
public final class NodeManagerCheck implements Function<Configuration, Map<String, String>> {
    private static final long MIB = 1 << 20;

    @Override
    public Map<String, String> apply(Configuration conf) {
        Map<String, String> findings = new LinkedHashMap<>();
        String executor = YarnConfiguration.NM_CONTAINER_EXECUTOR;
        Class<?>[] ours = {HiatusDefaultContainerExecutor.class, HiatusLinuxContainerExecutor.class};
        if (Arrays.stream(ours).noneMatch(one -> one.getName().equals(conf.getTrimmed(executor)))) {
            findings.put(executor, "nothing is suspended on nodes with this file: set it to " + ours[0].getName() + ", or to "
                + ours[1].getName() + " in place of LinuxContainerExecutor");
            return findings;
        }
        findings.putAll(NodeManagerSetup.obstacles(new Configuration(conf)));
        findings.putAll(SuspensionConf.wrong(conf));
        memory(conf, findings);
        return findings;
    }

    /** Nothing is suspended beyond what RAM and swap hold beside containers that fill the node. */
    private static void memory(Configuration conf, Map<String, String> findings) {
        String offered = YarnConfiguration.NM_PMEM_MB;
        long offeredMb = conf.getLong(offered, YarnConfiguration.DEFAULT_NM_PMEM_MB);
        long ramMb = SysInfo.newInstance().getPhysicalMemorySize() / MIB;
        OptionalLong swapMb = ProcFs.swapMb();
        if (swapMb.isPresent() && offeredMb >= ramMb + swapMb.getAsLong()) {
            findings.put(offered, "a node like this machine suspends nothing: its " + ramMb + " MiB of RAM and " + swapMb.getAsLong()
                + " of swap hold no more than what it offers; give it swap, or let it offer less");
        }
    }
}
