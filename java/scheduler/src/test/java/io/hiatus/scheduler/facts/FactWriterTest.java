package io.hiatus.scheduler.facts;

import static java.util.Collections.emptySet;
import static java.util.Collections.singletonMap;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.NativeLibrary;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.config.Preemptable;
import io.hiatus.scheduler.config.Sides;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** What happens, written down in Java and understood by the core: seen in what the core knows afterwards. */
public class FactWriterTest {
  @ClassRule
  public static final TemporaryFolder FOLDER = new TemporaryFolder();

  private static final NodeId NODE = NodeId.newInstance("h", 1);
  private static final ApplicationId APP = ApplicationId.newInstance(1, 1);
  private static final ApplicationAttemptId ATTEMPT = ApplicationAttemptId.newInstance(APP, 1);

  private final FactWriter facts = new FactWriter(false, id -> true);
  private final ByteBuffer answers = FactBuffer.fresh(1 << 16);
  private long core;

  @Before
  public void begin() {
    NativeLibrary.load(FOLDER.getRoot().toPath());
    core = Native.create("{\"yarn.scheduler.hiatus.plan-interval-ms\": \"0\"}");
    Map<String, float[]> all = singletonMap("", new float[] {1, 1});
    facts.queue("root", null, Preemptable.ABOVE_ROOT, all);
    facts.queue("root.a", "root", Preemptable.ABOVE_ROOT, all);
    facts.node(NODE, Resource.newInstance(8192, 8), "", true, true, false, Sides.NONE, 0);
    facts.app(APP, "root.a", "user", 0, "YARN", emptySet(), false, 0);
    facts.activeAre(Collections.singleton(APP));
  }

  @After
  public void end() {
    Native.destroy(core);
  }

  @Test
  public void aContainersLifeIsUnderstood() {
    ContainerId id = container(1, ExecutionType.GUARANTEED, RMContainerState.ALLOCATED);
    assertEquals("1 counted, 0 suspended, 1024 MB", known());
    facts.launched(id);
    facts.demoted(id);
    assertEquals("0 counted, 1 suspended, 0 MB", known());
    facts.promoted(id);
    assertEquals("1 counted, 0 suspended, 1024 MB", known());
    facts.completed(id, Exit.SUCCEEDED);
    assertEquals("0 counted, 0 suspended, 0 MB", known());
    assertEquals(0, strangeFacts());
  }

  @Test
  public void foundContainersAreWhatTheyWere() {
    container(1, ExecutionType.GUARANTEED, RMContainerState.RUNNING);
    ContainerId demoted = container(2, ExecutionType.OPPORTUNISTIC, RMContainerState.RUNNING);
    assertEquals("1 counted, 1 suspended, 1024 MB", known());
    assertEquals(Collections.singletonList(demoted), facts.suspended());
  }

  @Test
  public void whatIsOverIsNotFoundThoughItsNodeStillHasIt() {
    container(1, ExecutionType.GUARANTEED, RMContainerState.RELEASED);
    assertEquals("0 counted, 0 suspended, 0 MB", known());
  }

  @Test
  public void whatIsToldTwiceCountsOnce() {
    ContainerId id = container(1, ExecutionType.GUARANTEED, RMContainerState.RUNNING);
    container(1, ExecutionType.GUARANTEED, RMContainerState.RUNNING);
    assertEquals("1 counted, 0 suspended, 1024 MB", known());
    facts.completed(id, Exit.KILLED);
    facts.completed(id, Exit.KILLED);
    assertEquals("0 counted, 0 suspended, 0 MB", known());
    assertEquals(0, strangeFacts());
  }

  @Test
  public void whatIsUnknownIsNotTold() {
    ContainerId never = ContainerId.newContainerId(ATTEMPT, 99);
    known();
    facts.launched(never);
    facts.demoted(never);
    facts.promoted(never);
    facts.completed(never, Exit.FAILED);
    facts.heartbeat(NodeId.newInstance("never", 1), 0, 0, false);
    facts.nodeRemoved(NodeId.newInstance("never", 1));
    facts.appRemoved(ApplicationId.newInstance(1, 99), true);
    facts.attemptEnded(ApplicationId.newInstance(1, 99), false, emptySet());
    assertTrue(facts.isEmpty());
  }

  @Test
  public void aRemovedNodeTakesItsContainersWithIt() {
    container(1, ExecutionType.GUARANTEED, RMContainerState.RUNNING);
    ContainerId demoted = container(2, ExecutionType.OPPORTUNISTIC, RMContainerState.RUNNING);
    facts.nodeRemoved(NODE);
    assertNull(known());
    assertNull(facts.containers.of(demoted));
    assertTrue(facts.suspended().isEmpty());
    facts.completed(demoted, Exit.KILLED);
    assertTrue("what follows about each container is no news", facts.isEmpty());
    assertEquals(0, strangeFacts());
  }

  @Test
  public void anEndedAttemptTakesAllButTheKeptContainersWithIt() {
    container(1, ExecutionType.GUARANTEED, RMContainerState.RUNNING);
    ContainerId kept = container(2, ExecutionType.GUARANTEED, RMContainerState.RUNNING);
    facts.attemptEnded(APP, true, Collections.singleton(kept));
    assertEquals("1 counted, 0 suspended, 1024 MB", known());
    facts.attemptEnded(APP, false, emptySet());
    assertEquals("0 counted, 0 suspended, 0 MB", known());
    assertEquals(0, strangeFacts());
  }

  @Test
  public void aRemovedNodeLeavesTheContainersOfOthersAlone() {
    NodeId other = NodeId.newInstance("other", 1);
    facts.node(other, Resource.newInstance(8192, 8), "", true, true, false, Sides.NONE, 0);
    ContainerId stays = container(1, ExecutionType.GUARANTEED, RMContainerState.RUNNING);
    facts.nodeRemoved(other);
    assertEquals("1 counted, 0 suspended, 1024 MB", known());
    facts.completed(stays, Exit.SUCCEEDED);
    assertEquals("0 counted, 0 suspended, 0 MB", known());
  }

  @Test
  public void aNodeIsToldWhenItChangesAndOnlyThen() {
    known();
    facts.node(NODE, Resource.newInstance(8192, 8), "", true, true, false, Sides.NONE, 0);
    assertTrue(facts.isEmpty());
    facts.node(NODE, Resource.newInstance(8192, 8), "fast", true, true, false, Sides.NONE, 0);
    assertFalse(facts.isEmpty());
    known();
    facts.nodeRemoved(NODE);
    known();
    facts.node(NODE, Resource.newInstance(8192, 8), "fast", true, true, false, Sides.NONE, 0);
    assertEquals("one that comes back is new", "0 counted, 0 suspended, 0 MB", known());
    assertEquals(0, strangeFacts());
  }

  @Test
  public void aQueueIsToldWhenItChangesAndOnlyThen() {
    known();
    facts.queue("root.a", "root", Preemptable.ABOVE_ROOT, singletonMap("", new float[] {1, 1}));
    assertTrue(facts.isEmpty());
    facts.queue("root.a", "root", new Preemptable(false, true), singletonMap("", new float[] {1, 1}));
    assertFalse(facts.isEmpty());
    known();
    facts.queuesAre(Collections.singleton("root"));
    assertFalse(facts.isEmpty());
    known();
    facts.queue("root.a", "root", Preemptable.ABOVE_ROOT, singletonMap("", new float[] {1, 1}));
    known();
    assertEquals("a queue of the same name is another one", 0, strangeFacts());
  }

  @Test
  public void anApplicationIsToldToRunOnceAndToStopOnce() {
    known();
    facts.activeAre(Collections.singleton(APP));
    assertTrue(facts.isEmpty());
    facts.activeAre(emptySet());
    assertFalse(facts.isEmpty());
    known();
    facts.activeAre(emptySet());
    assertTrue(facts.isEmpty());
  }

  @Test
  public void exitStatusesAreSortedByWhoseDoingTheyAre() {
    assertEquals(Exit.SUCCEEDED, Exit.of(0));
    assertEquals(Exit.FAILED, Exit.of(1));
    assertEquals("137 is what a process killed by a signal leaves", Exit.FAILED, Exit.of(137));
    for (int own : new int[] {ContainerExitStatus.ABORTED, ContainerExitStatus.PREEMPTED,
        ContainerExitStatus.KILLED_BY_APPMASTER, ContainerExitStatus.INVALID}) {
      assertEquals(Exit.KILLED, Exit.of(own));
    }
  }

  /** A container of 1 GB, as found in the ResourceManager. */
  private ContainerId container(long number, ExecutionType type, RMContainerState state) {
    ContainerId id = ContainerId.newContainerId(ATTEMPT, number);
    RMContainer container = mock(RMContainer.class);
    when(container.getContainerId()).thenReturn(id);
    when(container.getAllocatedNode()).thenReturn(NODE);
    when(container.getExecutionType()).thenReturn(type);
    when(container.getState()).thenReturn(state);
    when(container.getAllocatedResource()).thenReturn(Resource.newInstance(1024, 1));
    when(container.getAllocatedSchedulerKey())
        .thenReturn(new SchedulerRequestKey(Priority.newInstance(20), 0, null));
    facts.container(container, false);
    return id;
  }

  /** What the core knows of the node after a step, or null if it knows no node. */
  private String known() {
    FactBuffer news = facts.take();
    Native.step(core, 1, news.bytes(), news.length(), answers);
    Map<Integer, Integer> views = views();
    if (!views.containsKey(Records.NodeView.KIND)) {
      return null;
    }
    int at = views.get(Records.NodeView.KIND);
    return Records.NodeView.counted(answers, at) + " counted, " + Records.NodeView.suspended(answers, at)
        + " suspended, " + Records.NodeView.usedMemoryMb(answers, at) + " MB";
  }

  /** Facts that the core could make nothing of. */
  private long strangeFacts() {
    return Records.TallyView.strangeFacts(answers, views().get(Records.TallyView.KIND));
  }

  /** Where the last view of each kind begins. */
  private Map<Integer, Integer> views() {
    Map<Integer, Integer> places = new HashMap<>();
    int length = Native.views(core, answers);
    for (int at = 0; at < length; at += answers.getInt(at + 4)) {
      places.put(answers.getInt(at), at);
    }
    return places;
  }
}
