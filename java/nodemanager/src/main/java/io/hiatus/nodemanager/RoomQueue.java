package io.hiatus.nodemanager;

import java.lang.reflect.Field;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.scheduler.ContainerScheduler;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.scheduler.ContainerSchedulerEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.scheduler.ContainerSchedulerEventType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The containers that wait for room on this node, which YARN's ContainerScheduler keeps to itself: it lets one out of there only
 * by giving it room, or when it ends. Hence by reflection.
 */
final class RoomQueue {
    private static final Logger LOG = LoggerFactory.getLogger(RoomQueue.class);
    private static final String[] QUEUES = {"queuedGuaranteedContainers", "queuedOpportunisticContainers"};

    private RoomQueue() { }

    /** Takes out a container that runs already. On the dispatcher's thread, which is the scheduler's. */
    static void leave(ContainerScheduler scheduler, ContainerId id) {
        boolean waited = false;
        try {
            for (String name : QUEUES) {
                Field queue = ContainerScheduler.class.getDeclaredField(name);
                queue.setAccessible(true);
                waited |= ((Map<?, ?>) queue.get(scheduler)).remove(id) != null;
            }
        } catch (ReflectiveOperationException | RuntimeException e) { // another Hadoop, or a JVM that forbids it
            LOG.warn("{} runs, and may be counted as one that waits for room until another container ends", id, e);
        }
        if (waited) { // so that it looks at whoever stands behind, and counts anew
            scheduler.handle(new ContainerSchedulerEvent(null, ContainerSchedulerEventType.RECOVERY_COMPLETED));
        }
    }
}
