package io.hiatus.scheduler.facts;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.hiatus.report.ExecutorReport.Worth;
import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Handles;
import io.hiatus.scheduler.bridge.Records;
import io.hiatus.scheduler.bridge.Rejection;
import io.hiatus.scheduler.cluster.Containers;
import io.hiatus.scheduler.config.Preemptable;
import io.hiatus.scheduler.state.LiveContainers;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/**
 * Writes down what happens as records for the core, in order, from whatever thread it happens on. It interprets nothing:
 * which fact matters is the core's business.
 */
public class FactWriter {
  /** What a container was found doing; the order is that of the record. */
  private enum Found {
    NEW, RUNNING, SUSPENDED
  }

  /** What the core was told last of a node. */
  private static final class LastSent {
    final int node;
    List<Object> record;
    volatile int flags;
    /** Whether its last heartbeat told of paused or waiting containers. */
    public boolean queues;

    LastSent(int node) {
      this.node = node;
    }
  }

  /** What a tag begins with that says something to the core. */
  private static final String HINT = "hiatus.";
  private static final long PLENTY = 1L << 30;

  public final Handles<NodeId> nodes = new Handles<>(0);
  public final Handles<String> queues = new Handles<>(0);
  public final Handles<ApplicationId> apps = new Handles<>(0);
  public final Handles<ContainerId> containers = new Handles<>(0);
  public final Handles<String> partitions = new Handles<>(0);
  private final Handles<String> users = new Handles<>(0);
  private final Set<ApplicationId> asksChanged = ConcurrentHashMap.newKeySet();
  /** Applications that name hosts or racks on which they want nothing. */
  private final Set<ApplicationId> blacklisting = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean queuesChanged = new AtomicBoolean();
  private final AtomicBoolean activeChanged = new AtomicBoolean();
  private final Set<ApplicationId> active = new HashSet<>();
  private final LiveContainers live = new LiveContainers();
  private final Map<String, List<Object>> queuesSent = new HashMap<>();
  private final Map<String, List<Double>> userLimitsSent = new HashMap<>();
  private final Map<NodeId, LastSent> nodesSent = new ConcurrentHashMap<>();
  private final boolean memoryOnly;
  private final Predicate<ContainerId> isOurs;
  private FactBuffer filling = new FactBuffer();
  private FactBuffer taken = new FactBuffer();
  /** Bytes in {@code filling} that tell no more than that nodes live. */
  private int quietBytes;
  private volatile boolean lends;

  /**
   * Where only memory counts for the ResourceManager (YARN's DefaultResourceCalculator), vcores still count for a
   * NodeManager that can pause containers: it starts none beyond its vcores. Other nodes have plenty of them. Of the containers
   * that are demoted the core is to know those that {@code isOurs} says are Hiatus's.
   */
  public FactWriter(boolean memoryOnly, Predicate<ContainerId> isOurs) {
    this.memoryOnly = memoryOnly;
    this.isOurs = isOurs;
    partitions.intern("");
  }

  /** Everything written since the last call; valid until the next one. */
  public synchronized FactBuffer take() {
    FactBuffer full = filling;
    taken.clear();
    filling = taken;
    taken = full;
    quietBytes = 0;
    return full;
  }

  /** Whether there is nothing to tell. */
  public boolean isEmpty() {
    return !isWritten() && isNothingMarked();
  }

  /** Whether there is nothing to tell but that nodes live which have room for nobody. */
  public synchronized boolean isQuiet() {
    return filling.length() == quietBytes && isNothingMarked();
  }

  private boolean isNothingMarked() {
    return asksChanged.isEmpty() && !queuesChanged.get() && !activeChanged.get();
  }

  /** What the core says: whether reduces of some queue lend their room. */
  public void lends(boolean now) {
    lends = now;
  }

  /** Whether it matters where every task is. */
  public boolean lends() {
    return lends;
  }

  /** Whether facts are written down that nobody has taken. */
  public synchronized boolean isWritten() {
    return filling.length() > 0;
  }

  /** A node; {@code side} is a flag of {@code Sides}, {@code ramAndSwapMb} 0 where the machine did not say. Nothing is written if that is what was written last. */
  public synchronized void node(NodeId id, Resource total, String partition, boolean shareable, boolean canSuspend,
      boolean decommissioning, int side, long ramAndSwapMb) {
    LastSent sent = nodesSent.computeIfAbsent(id, any -> new LastSent(nodes.intern(id)));
    sent.flags = flags(canSuspend, decommissioning, side);
    int flags = (shareable ? 1 : 0) | sent.flags;
    long vcores = memoryOnly && !canSuspend ? PLENTY : total.getVirtualCores();
    List<Object> now = Arrays.asList(total.getMemorySize(), vcores, partition, flags, ramAndSwapMb);
    if (now.equals(sent.record)) {
      return;
    }
    sent.record = now;
    Records.putNode(filling, sent.node, total.getMemorySize(), vcores, partitions.intern(partition), flags, ramAndSwapMb);
  }

  private static int flags(boolean canSuspend, boolean decommissioning, int side) {
    return (canSuspend ? 2 : 0) | (decommissioning ? 4 : 0) | side;
  }

  /** Whether the core was told this of the node last. */
  boolean isAsTold(NodeId id, boolean canSuspend, boolean decommissioning, int side) {
    LastSent sent = nodesSent.get(id);
    return sent != null && sent.flags == flags(canSuspend, decommissioning, side);
  }

  synchronized void nodeRemoved(NodeId id) {
    LastSent sent = nodesSent.remove(id);
    if (sent != null) {
      // What ran there goes with it, without a word about each container.
      live.on(id).forEach(this::forget);
      nodes.remove(id);
      Records.putNodeRemoved(filling, sent.node);
    }
  }

  /** A node reported in, with so many containers paused and waiting there; {@code isFull} if it has room for nobody. */
  public synchronized void heartbeat(NodeId id, int paused, int waiting, boolean isFull) {
    LastSent sent = nodesSent.get(id);
    if (sent != null) {
      int before = filling.length();
      Records.putHeartbeat(filling, sent.node, paused, waiting);
      boolean queued = sent.queues;
      sent.queues = paused > 0 || waiting > 0;
      if (!queued && !sent.queues && isFull) {
        quietBytes += filling.length() - before;
      }
    }
  }

  /** Containers that are demoted now, longest first. */
  public synchronized List<ContainerId> suspended() {
    return live.suspended();
  }

  public synchronized boolean isSuspended(ContainerId id) {
    return live.isSuspended(id);
  }

  /** Containers of that node that the core was told of. */
  public synchronized List<ContainerId> on(NodeId node) {
    return live.on(node);
  }

  /** Queues may have changed: they are to be looked at before the next step. */
  public void queuesChanged() {
    queuesChanged.set(true);
  }

  /** Whether that was said since the last call. */
  boolean takeQueuesChanged() {
    return queuesChanged.getAndSet(false);
  }

  /** Which applications may run may have changed: that is to be looked at before the next step. */
  public void activeChanged() {
    activeChanged.set(true);
  }

  /** Whether that was said since the last call. */
  boolean takeActiveChanged() {
    return activeChanged.getAndSet(false);
  }

  /** A queue with its fractions by partition; nothing is written if that is what was written last. */
  synchronized void queue(String path, String parent, Preemptable preemptable, Map<String, float[]> shares) {
    List<Object> now = new ArrayList<>();
    now.add(parent);
    now.add(preemptable.byOthers);
    now.add(preemptable.within);
    shares.forEach((partition, share) -> now.add(partition + "=" + share[0] + "/" + share[1]));
    if (now.equals(queuesSent.put(path, now))) {
      return;
    }
    int queue = queues.intern(path);
    int flags = (parent != null ? 1 : 0) | (preemptable.byOthers ? 2 : 0) | (preemptable.within ? 4 : 0);
    Records.putQueue(filling, queue, parent == null ? 0 : queues.intern(parent), flags, path.getBytes(UTF_8));
    shares.forEach((partition, share) ->
        Records.putQueueShare(filling, queue, partitions.intern(partition), share[0], share[1]));
  }

  /**
   * What users may hold of a leaf queue that was told: the fraction of which each is sure, and how many times its guarantee none
   * gets more of. Nothing is written if that is what was written last.
   */
  synchronized void userLimits(String path, double sure, double most) {
    List<Double> now = Arrays.asList(sure, most);
    if (!now.equals(userLimitsSent.put(path, now))) {
      Records.putUserLimits(filling, queues.intern(path), sure, most);
    }
  }

  /** All queues but these are gone. */
  synchronized void queuesAre(Set<String> paths) {
    for (String path : new ArrayList<>(queuesSent.keySet())) {
      if (!paths.contains(path)) {
        queuesSent.remove(path);
        userLimitsSent.remove(path);
        Records.putQueueRemoved(filling, queues.remove(path));
      }
    }
  }

  public synchronized void app(ApplicationId id, String queue, String user, int priority, String type, Set<String> tags,
      boolean unmanaged, long jobClass) {
    // Of the tags those that may be hints: the others are their users' own, and nobody else's.
    String hints = tags.stream().filter(tag -> tag.trim().toLowerCase(Locale.ROOT).startsWith(HINT)).collect(Collectors.joining("\n"));
    byte[] text = (id + "\n" + type + "\n" + hints).getBytes(UTF_8);
    long now = System.currentTimeMillis();
    Records.putApp(filling, apps.intern(id), queues.intern(queue), users.intern(user), priority, now,
        unmanaged ? 1 : 0, jobClass, text);
  }

  synchronized void appChanged(ApplicationId id, String queue, int priority) {
    Integer app = apps.of(id);
    if (app != null) {
      Records.putAppChanged(filling, app, queues.intern(queue), priority);
    }
  }

  /** These applications may run, no others; only what changes is written. */
  synchronized void activeAre(Set<ApplicationId> running) {
    for (ApplicationId id : new ArrayList<>(active)) {
      if (!running.contains(id)) {
        active.remove(id);
        Records.putAppActive(filling, apps.of(id), 0);
      }
    }
    for (ApplicationId id : running) {
      Integer app = apps.of(id);
      if (app != null && active.add(id)) {
        Records.putAppActive(filling, app, 1);
      }
    }
  }

  public synchronized void appParked(ApplicationId id, boolean parked) {
    Integer app = apps.of(id);
    if (app != null) {
      Records.putAppParked(filling, app, parked ? 1 : 0);
    }
  }

  public synchronized void containerParked(ContainerId id, boolean parked) {
    Integer container = containers.of(id);
    if (container != null) {
      Records.putContainerParked(filling, container, parked ? 1 : 0);
    }
  }

  synchronized void attemptEnded(ApplicationId id, boolean keepContainers, Set<ContainerId> kept) {
    Integer app = apps.of(id);
    if (app != null) {
      active.remove(id);
      List<ContainerId> ended = live.of(id);
      ended.removeAll(kept);
      ended.forEach(container -> completed(container, Exit.KILLED));
      Records.putAttemptEnded(filling, app, keepContainers ? 1 : 0);
    }
  }

  synchronized void appRemoved(ApplicationId id, boolean succeeded) {
    Integer app = apps.remove(id);
    if (app != null) {
      active.remove(id);
      asksChanged.remove(id);
      blacklisting.remove(id);
      Records.putAppRemoved(filling, app, succeeded ? 1 : 0);
    }
  }

  /** A record about an application, which history made; nothing if that is gone. */
  public synchronized void known(ByteBuffer records, int at) {
    int length = records.getInt(at + Integer.BYTES);
    int fields = at + 2 * Integer.BYTES;
    if (apps.thing(records.getInt(fields)) != null) {
      ByteBuffer to = filling.record(records.getInt(at), length);
      for (int next = fields; next < at + length; next++) {
        to.put(records.get(next));
      }
    }
  }

  /** The application's asks, and its blacklist, are to be read again before the next step. */
  public void asksChanged(ApplicationId id) {
    asksChanged.add(id);
  }

  /** A node came, and may be one that applications have blacklisted. */
  void blacklistsChanged() {
    asksChanged.addAll(blacklisting);
  }

  /** Reads the asks that changed since the last call; {@code blacklists} has the nodes that an attempt has blacklisted, or null if it names none. */
  void collectAsks(Function<ApplicationId, FiCaSchedulerApp> attempts, Function<FiCaSchedulerApp, Collection<NodeId>> blacklists) {
    for (ApplicationId id : asksChanged) {
      asksChanged.remove(id);
      FiCaSchedulerApp attempt = attempts.apply(id);
      Integer app = apps.of(id);
      if (attempt != null && app != null) {
        asks(app, attempt, blacklists.apply(attempt));
      }
    }
  }

  private synchronized void asks(int app, FiCaSchedulerApp attempt, Collection<NodeId> blacklist) {
    Records.putAsksReplaced(filling, app);
    if (blacklist == null) {
      blacklisting.remove(attempt.getApplicationId());
    } else {
      blacklisting.add(attempt.getApplicationId());
      blacklist.stream().map(nodes::of).filter(Objects::nonNull).forEach(node -> Records.putBlacklisted(filling, app, node));
    }
    Asks.of(attempt, isOurs).forEach((phase, wanted) -> Records.putAsked(filling, app, phase.priority,
        partitions.intern(phase.partition), phase.size.getMemorySize(), phase.size.getVirtualCores(), wanted.count,
        wanted.places.ordinal()));
  }

  /** A container's size changed. To the core, for which size makes the phase, it is another container. */
  public synchronized void resized(RMContainer container) {
    if (container != null && containers.of(container.getContainerId()) != null) {
      completed(container.getContainerId(), Exit.KILLED);
      container(container, container.isAMContainer());
    }
  }

  /** A container exists, new or found. */
  public synchronized void container(RMContainer container, boolean master) {
    ContainerId id = container.getContainerId();
    Integer app = apps.of(id.getApplicationAttemptId().getApplicationId());
    Integer node = nodes.of(container.getAllocatedNode());
    boolean demoted = container.getExecutionType() == ExecutionType.OPPORTUNISTIC;
    if (app == null || node == null || containers.of(id) != null || Containers.isUpdatePlaceholder(container) || Containers.isOver(container)
        || demoted && !isOurs.test(id)) {
      return;
    }
    Found found = demoted ? Found.SUSPENDED
        : container.getState() == RMContainerState.RUNNING ? Found.RUNNING : Found.NEW;
    Resource size = container.getAllocatedResource();
    String partition = Objects.toString(container.getNodeLabelExpression(), "");
    live.add(id, container.getAllocatedNode());
    if (found == Found.SUSPENDED) {
      live.suspend(id);
    }
    Records.putAllocated(filling, containers.intern(id), app, node,
        container.getAllocatedSchedulerKey().getPriority().getPriority(), partitions.intern(partition),
        size.getMemorySize(), size.getVirtualCores(), master ? 1 : 0, found.ordinal());
  }

  public synchronized void launched(ContainerId id) {
    Integer container = containers.of(id);
    if (container != null) {
      Records.putLaunched(filling, container);
    }
  }

  public synchronized void demoted(ContainerId id) {
    Integer container = containers.of(id);
    if (container != null && live.suspend(id)) {
      Records.putDemoted(filling, container);
    }
  }

  public synchronized void promoted(ContainerId id) {
    Integer container = containers.of(id);
    if (container != null && live.resume(id)) {
      Records.putPromoted(filling, container);
    }
  }

  /** A task said which part of its own work is done, 0 to 1; less than 0 if it has not begun that, but waits for others. */
  public synchronized void progress(ContainerId id, double done) {
    Integer container = containers.of(id);
    if (container != null) {
      Records.putProgress(filling, container, done);
    }
  }

  /** A map said which part of its input it has read, 0 to 1, and whether it sorts and writes what it made. */
  public synchronized void mapTold(ContainerId id, double read, boolean partitions) {
    Integer container = containers.of(id);
    if (container != null) {
      Records.putMapTold(filling, container, read, partitions ? 1 : 0);
    }
  }

  /** A reduce said of how many maps it has the output; so many were done when it was asked, or later, of so many. */
  public synchronized void reduceTold(ContainerId id, int fetched, int done, int total) {
    Integer container = containers.of(id);
    if (container != null) {
      Records.putReduceTold(filling, container, fetched, done, total);
    }
  }

  /** The application said how many tasks of a request priority it has, and how many of them are done. */
  public synchronized void tasks(ApplicationId id, int priority, int total, int done) {
    Integer app = apps.of(id);
    if (app != null) {
      Records.putTasks(filling, app, priority, total, done);
    }
  }

  /** The application told of a stage: flag 1 if nothing holds any more that it told before, 2 if more may follow. */
  public synchronized void stage(ApplicationId id, int flags, int priority, int tasks, int running, int done, long eachMs, int slots) {
    Integer app = apps.of(id);
    if (app != null) {
      Records.putStage(filling, app, flags, priority, tasks, running, done, eachMs, slots);
    }
  }

  /** The application told what an executor is worth to it. */
  public synchronized void executor(ContainerId id, Worth worth) {
    Integer container = containers.of(id);
    if (container != null) {
      Records.putExecutor(filling, container, worth.ordinal());
    }
  }

  public synchronized void completed(ContainerId id, Exit exit) {
    Integer container = forget(id);
    if (container != null) {
      Records.putCompleted(filling, container, exit.ordinal());
    }
  }

  public synchronized void assignRefused(int app, int node, Rejection why) {
    Records.putAssignRejected(filling, app, node, why.ordinal());
  }

  public synchronized void containerRefused(int container, Rejection why) {
    Records.putContainerRejected(filling, container, why.ordinal());
  }

  private Integer forget(ContainerId id) {
    live.remove(id);
    return containers.remove(id);
  }
}
