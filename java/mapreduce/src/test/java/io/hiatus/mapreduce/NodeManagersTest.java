package io.hiatus.mapreduce;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ContainerSubState;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.junit.Test;

/** What a NodeManager's answer means for a container that does not report. */
public final class NodeManagersTest {
    private static ContainerStatus status(ContainerSubState state, ExecutionType type) {
        ContainerStatus status = mock(ContainerStatus.class);
        when(status.getContainerSubState()).thenReturn(state);
        when(status.getExecutionType()).thenReturn(type);
        return status;
    }

    @Test
    public void pausedAndParkedOnesAreSuspended() {
        assertTrue(NodeManagers.isSuspended(status(ContainerSubState.PAUSED, ExecutionType.OPPORTUNISTIC)));
        assertTrue("parked", NodeManagers.isSuspended(status(ContainerSubState.RUNNING, ExecutionType.OPPORTUNISTIC)));
        assertTrue("promoted, about to be resumed", NodeManagers.isSuspended(status(ContainerSubState.PAUSED, ExecutionType.GUARANTEED)));
    }

    @Test
    public void othersAreNot() {
        assertFalse(NodeManagers.isSuspended(status(ContainerSubState.RUNNING, ExecutionType.GUARANTEED)));
        assertFalse(NodeManagers.isSuspended(status(ContainerSubState.SCHEDULED, ExecutionType.GUARANTEED)));
        assertFalse(NodeManagers.isSuspended(status(ContainerSubState.COMPLETING, ExecutionType.GUARANTEED)));
    }
}
