package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;

import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.AbstractCSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.AutoCreatedLeafQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.QueueEntitlement;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AutoCreatedQueueDeletionEvent;
import org.junit.Test;

/** The ways in which administrators divide a cluster, changed or taken away while something is suspended. */
public class QueueKindsTest extends OneSuspended {
  /** One of root.many is suspended for root.few; then their shares are others. */
  private void changeWhileSuspended(String ofMany, String ofFew, String later) throws Exception {
    Consumer<Configuration> both = conf -> queues(conf, "root", "many", ofMany, "few", ofFew);
    try (MockCluster cluster = MockCluster.with(both)) {
      suspendOne(cluster, () -> cluster.submit("many", "user"), () -> cluster.submit("few", "user"));
      cluster.refresh(both.andThen(conf -> conf.set(queue("root.many", "capacity"), later)));
      cluster.rounds(2);
      assertNull(cluster.difference());
      cluster.restart(both);
      cluster.reregisterMasters();
      cluster.rounds(2);
      bothEnd(cluster);
    }
  }

  @Test
  public void queuesByWeight() throws Exception {
    changeWhileSuspended("1w", "1w", "4w");
  }

  @Test
  public void queuesByAbsoluteResources() throws Exception {
    changeWhileSuspended("[memory=2304,vcores=32]", "[memory=2304,vcores=32]", "[memory=1024,vcores=32]");
  }

  /** Jobs of two users run in queues that are made for them, which are taken away when they are done. */
  private void inQueuesOfTheirOwn(Consumer<Configuration> kind, Deletion deletion) throws Exception {
    try (MockCluster cluster = MockCluster.with(kind.andThen(conf -> conf.set("yarn.scheduler.capacity.queue-mappings",
        "u:%user:root.users.%user")))) {
      suspendOne(cluster, () -> cluster.submit("default", "ann"), () -> cluster.submit("default", "bob"));
      assertEquals("root.users.ann", queueOf(cluster, big));
      cluster.restart();
      cluster.reregisterMasters();
      cluster.rounds(2);
      assertEquals("root.users.bob", queueOf(cluster, small));
      bothEnd(cluster);

      assertNotNull(cluster.facts().queues.of("root.users.ann"));
      for (String user : new String[] {"ann", "bob"}) {
        AbstractCSQueue queue = (AbstractCSQueue) cluster.scheduler().getQueue("root.users." + user);
        MockCluster.until("nobody has it any more", () -> {
          deletion.delete(cluster.scheduler(), queue);
          cluster.settle();
          return cluster.scheduler().getQueue("root.users." + user) == null;
        });
      }
      assertNull(cluster.difference());
      assertNull("the core forgets it, too", cluster.facts().queues.of("root.users.ann"));

      FakeApp again = cluster.started(cluster.submit("default", "ann"));
      again.ask(1, 1024);
      cluster.rounds(3);
      assertEquals(1, again.held().size());
      assertNull(cluster.difference());
    }
  }

  private static String queueOf(MockCluster cluster, FakeApp app) {
    return ((CSQueue) cluster.attempt(app).getQueue()).getQueuePath();
  }

  private interface Deletion {
    void delete(CapacityScheduler scheduler, AbstractCSQueue queue) throws Exception;
  }

  @Test
  public void queuesMadeByTheTemplateOfAManagedParent() throws Exception {
    inQueuesOfTheirOwn(conf -> {
      queues(conf, "root", "default", 0, "users", 100);
      String template = "root.users.leaf-queue-template";
      conf.set(queue("root.users", "auto-create-child-queue.enabled"), "true");
      conf.set(queue(template, "capacity"), "50");
      conf.set(queue(template, "maximum-capacity"), "100");
      conf.set(queue(template, "user-limit-factor"), "100");
    }, (scheduler, queue) -> {
      ((AutoCreatedLeafQueue) queue).setEntitlement(new QueueEntitlement(0, 1)); // as its management policy does in time
      scheduler.removeQueue(queue.getQueuePath());
    });
  }

  @Test
  public void queuesMadeOfNothing() throws Exception {
    inQueuesOfTheirOwn(conf -> {
      queues(conf, "root", "default", "1w", "users", "9w");
      conf.set(queue("root.users", "auto-queue-creation-v2.enabled"), "true");
      conf.set(CapacitySchedulerConfiguration.AUTO_CREATE_CHILD_QUEUE_EXPIRED_TIME, "1");
    }, (scheduler, queue) -> scheduler.handle(new AutoCreatedQueueDeletionEvent(queue)));
  }
}
