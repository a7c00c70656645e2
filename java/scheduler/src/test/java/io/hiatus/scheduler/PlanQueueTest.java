package io.hiatus.scheduler;

import static io.hiatus.scheduler.MockCluster.queue;
import static io.hiatus.scheduler.MockCluster.queues;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.protocolrecords.GetNewReservationRequest;
import org.apache.hadoop.yarn.api.protocolrecords.ReservationSubmissionRequest;
import org.apache.hadoop.yarn.api.records.ReservationDefinition;
import org.apache.hadoop.yarn.api.records.ReservationId;
import org.apache.hadoop.yarn.api.records.ReservationRequest;
import org.apache.hadoop.yarn.api.records.ReservationRequestInterpreter;
import org.apache.hadoop.yarn.api.records.ReservationRequests;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.ClientRMService;
import org.apache.hadoop.yarn.server.resourcemanager.reservation.Plan;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.junit.Test;

/** YARN's ReservationSystem makes queues when a reservation begins, gives them their share, and takes them away when it ends. */
public class PlanQueueTest extends OneSuspended {
  /** 3.4 finds the queue for others by this name of the plan alone. */
  private static final String PLAN = "root.plan";
  private static final String OTHERS = PLAN + "-default";

  private static void withPlan(Configuration conf) {
    queues(conf, "root", "default", 20, "plan", 80);
    conf.set(queue("root.plan", "reservable"), "true");
    conf.setBoolean(YarnConfiguration.RM_RESERVATION_SYSTEM_ENABLE, true);
    conf.setLong(YarnConfiguration.RM_RESERVATION_SYSTEM_PLAN_FOLLOWER_TIME_STEP, 100);
  }

  /** From now on, for so long. */
  private static ReservationId reserve(MockCluster cluster, int memoryMb, long forMs) throws Exception {
    ClientRMService service = cluster.rm().getClientRMService();
    ReservationId id = service.getNewReservation(GetNewReservationRequest.newInstance()).getReservationId();
    long now = System.currentTimeMillis();
    ReservationRequest room = ReservationRequest.newInstance(Resource.newInstance(memoryMb, 1), 1, 1, forMs);
    service.submitReservation(ReservationSubmissionRequest.newInstance(ReservationDefinition.newInstance(now, now + forMs + 1_000,
        ReservationRequests.newInstance(Collections.singletonList(room), ReservationRequestInterpreter.R_ALL), "nightly"), PLAN, id));
    return id;
  }

  private static String queueOf(MockCluster cluster, FakeApp app) {
    return ((CSQueue) cluster.attempt(app).getQueue()).getQueueShortName();
  }

  @Test
  public void whatIsSuspendedForAReservationGoesOnWhenThatIsOver() throws Exception {
    try (MockCluster cluster = MockCluster.with(PlanQueueTest::withPlan)) {
      suspendOne(cluster, () -> {
        Plan plan = cluster.context().getReservationSystem().getPlan(PLAN);
        MockCluster.until("the plan knows the node", () -> plan.getTotalCapacity().getMemorySize() > 0);
        return cluster.submit(PLAN, "user");
      }, () -> {
        ReservationId reserved = reserve(cluster, 2048, 15_000);
        MockCluster.until("the reservation has its queue", () -> cluster.scheduler().getQueue(reserved.toString()) != null);
        // Until a node's size is looked at CapacityScheduler gives nothing there: stock, too.
        cluster.resize(node, NODE_MB);
        return cluster.submit(PLAN, submission -> submission.setReservationID(reserved));
      });
      assertEquals(OTHERS, queueOf(cluster, big));
      String reserved = queueOf(cluster, small);
      assertNull(cluster.difference());
      MockCluster.until("the reservation is over", () -> cluster.scheduler().getQueue(reserved) == null);
      assertEquals("who is not done goes on without it", OTHERS, queueOf(cluster, small));
      assertNull(cluster.difference());
      assertNull(cluster.facts().queues.of("root.plan." + reserved));
      bothEnd(cluster);
    }
  }
}
