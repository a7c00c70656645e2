package io.hiatus.mapreduce;

import java.io.IOException;
import java.util.Collection;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.exceptions.YarnException;

/** Who knows whether containers are suspended. */
interface Containers {
    /**
     * Those of the given containers that are suspended now.
     *
     * @param node host:port of the NodeManager on which all of them are
     * @throws IOException when the node does not answer
     * @throws YarnException when it refuses to
     */
    Set<ContainerId> suspended(String node, Collection<ContainerId> containers) throws IOException, YarnException;
}
