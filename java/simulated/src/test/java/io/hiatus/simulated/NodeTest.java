package io.hiatus.simulated;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.ContainerSubState;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.junit.Test;

/** A node with room for two containers; times are seconds. */
public class NodeTest {
  private static final ApplicationAttemptId ATTEMPT = ApplicationAttemptId.newInstance(ApplicationId.newInstance(1, 1), 1);
  private static final Resource SIZE = Resource.newInstance(1024, 1);

  private final Node node = new Node(Resource.newInstance(2048, 2));

  @Test
  public void aDemotedContainerIsPausedWhenAGuaranteedOneNeedsItsRoomTheNewestFirst() {
    start(0, 1, 60);
    start(1, 2, 60);
    demote(10, 1);
    demote(10, 2);
    start(11, 3, 5);
    assertTrue(process(1).isRunning());
    assertEquals(Process.Activity.PAUSED, process(2).activity());
    assertEquals(1, node.pauses());
  }

  @Test
  public void aDemotedContainerRunsOnWhereThereIsRoom() {
    start(0, 1, 60);
    demote(10, 1);
    start(11, 2, 60);
    assertTrue(process(1).isRunning());
    assertEquals(0.5, process(1).done(ms(30)), 0.001);
  }

  @Test
  public void theTimeForWhichItStandsStillIsNoWork() {
    fill();
    demote(10, 2);
    start(11, 3, 20);
    assertEquals(11. / 60, process(2).done(ms(11)), 0.001);
    assertEquals(11. / 60, process(2).done(ms(25)), 0.001);
    assertEquals("3 ends at 31, and 2 goes on by itself: of its 60 s it has worked 11", ids(3), node.advance(ms(31)));
    assertTrue(process(2).isRunning());
    assertEquals(ms(31 + 49), process(2).endMs());
  }

  @Test
  public void aPromotedContainerGoesOnInTheRoomOfOneThatIsDemoted() {
    fill();
    demote(10, 2);
    start(11, 3, 60);
    demote(20, 3);
    promote(20, 2);
    assertTrue(process(2).isRunning());
    assertEquals(Process.Activity.PAUSED, process(3).activity());
  }

  @Test
  public void aPromotedContainerWithoutRoomWaitsAndComesBeforeThoseThatAreDemoted() {
    fill();
    demote(10, 1);
    demote(10, 2);
    start(11, 3, 5);
    start(11, 4, 60);
    promote(12, 2);
    assertFalse(process(2).isRunning());
    assertEquals(2, node.queued());
    node.advance(ms(16));
    assertTrue("3 has ended", process(2).isRunning());
    assertEquals(Process.Activity.PAUSED, process(1).activity());
  }

  @Test
  public void anOrderThatIsNotNewerThanTheLastIsIgnored() {
    fill();
    node.update(ms(1), id(2), ExecutionType.OPPORTUNISTIC, 2);
    node.update(ms(2), id(2), ExecutionType.GUARANTEED, 2);
    assertFalse(process(2).isGuaranteed());
  }

  @Test
  public void aReduceThatWaitsForMapsRunsAndWorksNothingOff() {
    node.start(0, new Process(id(1), SIZE, ExecutionType.GUARANTEED, 0, ms(10), true));
    assertEquals(Collections.emptyList(), node.advance(ms(100)));
    node.open(ms(100), id(1));
    assertEquals(0.4, process(1).done(ms(104)), 0.001);
    assertEquals(ids(1), node.advance(ms(110)));
  }

  @Test
  public void whatEndsGivesItsRoomAtThatTimeHoweverLateSomebodyLooks() {
    fill();
    demote(10, 2);
    start(10, 3, 5);
    start(10, 4, 5);
    assertEquals("4 waits for 3's room, 2 for 4's", ids(3, 4), node.advance(ms(21)));
    assertEquals("2 went on at 20", ms(20 + 50), process(2).endMs());
  }

  @Test
  public void whatIsNotOverIsReportedAsRunningWithItsTypeAndTheStateBelow() {
    fill();
    demote(10, 2);
    start(11, 3, 5);
    ContainerStatus paused = process(2).status();
    assertEquals(Arrays.asList(ContainerState.RUNNING, ContainerSubState.PAUSED, ExecutionType.OPPORTUNISTIC),
        Arrays.asList(paused.getState(), paused.getContainerSubState(), paused.getExecutionType()));
    assertEquals(ContainerSubState.RUNNING, process(3).status().getContainerSubState());
  }

  /** Two containers of a minute run. */
  private void fill() {
    start(0, 1, 60);
    start(0, 2, 60);
  }

  private void start(int at, int container, int work) {
    node.start(ms(at), new Process(id(container), SIZE, ExecutionType.GUARANTEED, 0, ms(work), false));
  }

  private void demote(int at, int container) {
    node.update(ms(at), id(container), ExecutionType.OPPORTUNISTIC, 1);
  }

  private void promote(int at, int container) {
    node.update(ms(at), id(container), ExecutionType.GUARANTEED, 2);
  }

  private Process process(int container) {
    return node.process(id(container));
  }

  private static long ms(int seconds) {
    return 1000L * seconds;
  }

  private static ContainerId id(int container) {
    return ContainerId.newContainerId(ATTEMPT, container);
  }

  private static List<ContainerId> ids(int... containers) {
    return Arrays.asList(Arrays.stream(containers).mapToObj(NodeTest::id).toArray(ContainerId[]::new));
  }
}
