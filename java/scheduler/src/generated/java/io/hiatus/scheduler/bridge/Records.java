// Generated from rust/wire/src/layout.rs by `cargo run -p hiatus-jni --bin generate-records`. Do not edit.
package io.hiatus.scheduler.bridge;

import java.nio.ByteBuffer;

/** Layouts of all records that cross the boundary to the native library. */
public final class Records {
  /** Layouts and version in one number; the native library has the same. */
  public static final int ABI = -1474637911;
  /** Bytes of kind and length before the fields. */
  public static final int HEADER = 8;
  /** In what a step returns, above the bytes of its answers: another one is worth while without new facts. */
  public static final long MORE = 4294967296L;
  /** There too: the core said something. */
  public static final long SAID = 8589934592L;
  /** And there: reduces of some queue lend their room. */
  public static final long LENDS = 17179869184L;
  /** And there: applications wait to be let in, and their order was computed anew. */
  public static final long ADMITS = 34359738368L;

  private Records() {
  }

  /** A node, what it offers, and what its RAM and swap hold together, 0 if unknown; flags: 1 its partition may be shared, 2 it can suspend, 4 it is being decommissioned, 8 it is on the physical side of a mixed cluster, 16 on the virtual one. */
  public static void putNode(FactBuffer out, int node, long memoryMb, long vcores, int partition, int flags, long ramAndSwapMb) {
    ByteBuffer to = out.record(1, 44);
    to.putInt(node);
    to.putLong(memoryMb);
    to.putLong(vcores);
    to.putInt(partition);
    to.putInt(flags);
    to.putLong(ramAndSwapMb);
  }

  /** A node left. */
  public static void putNodeRemoved(FactBuffer out, int node) {
    ByteBuffer to = out.record(2, 12);
    to.putInt(node);
  }

  /** A node reported in, with so many containers paused and so many that cannot start yet. */
  public static void putHeartbeat(FactBuffer out, int node, int paused, int waiting) {
    ByteBuffer to = out.record(3, 20);
    to.putInt(node);
    to.putInt(paused);
    to.putInt(waiting);
  }

  /** A queue; its path is the text. Flags: 1 it has a parent, 2 others may take from it, 4 its own jobs may take from each other. */
  public static void putQueue(FactBuffer out, int queue, int parent, int flags, byte[] text) {
    ByteBuffer to = out.record(4, 20 + text.length);
    to.putInt(queue);
    to.putInt(parent);
    to.putInt(flags);
    to.put(text);
  }

  /** A queue is gone. */
  public static void putQueueRemoved(FactBuffer out, int queue) {
    ByteBuffer to = out.record(5, 12);
    to.putInt(queue);
  }

  /** A queue's fractions of one partition. */
  public static void putQueueShare(FactBuffer out, int queue, int partition, double guaranteed, double maximum) {
    ByteBuffer to = out.record(6, 32);
    to.putInt(queue);
    to.putInt(partition);
    to.putDouble(guaranteed);
    to.putDouble(maximum);
  }

  /** An application, told of so many ms after 1970; flags: 1 unmanaged; the number of the class of jobs that it is a run of; the text is its name, its type and its tags, one a line. */
  public static void putApp(FactBuffer out, int app, int queue, int user, int priority, long toldAtMs, int flags, long jobClass, byte[] text) {
    ByteBuffer to = out.record(7, 44 + text.length);
    to.putInt(app);
    to.putInt(queue);
    to.putInt(user);
    to.putInt(priority);
    to.putLong(toldAtMs);
    to.putInt(flags);
    to.putLong(jobClass);
    to.put(text);
  }

  /** An application's queue or priority changed. */
  public static void putAppChanged(FactBuffer out, int app, int queue, int priority) {
    ByteBuffer to = out.record(8, 20);
    to.putInt(app);
    to.putInt(queue);
    to.putInt(priority);
  }

  /** Whether the queue lets the application run (1) or not (0). */
  public static void putAppActive(FactBuffer out, int app, int active) {
    ByteBuffer to = out.record(9, 16);
    to.putInt(app);
    to.putInt(active);
  }

  /** An attempt ended; its containers live on (1) or not (0). */
  public static void putAttemptEnded(FactBuffer out, int app, int keepContainers) {
    ByteBuffer to = out.record(10, 16);
    to.putInt(app);
    to.putInt(keepContainers);
  }

  /** An application is over, and has done its work (1) or not (0). */
  public static void putAppRemoved(FactBuffer out, int app, int succeeded) {
    ByteBuffer to = out.record(11, 16);
    to.putInt(app);
    to.putInt(succeeded);
  }

  /** All asks of the application follow anew, and the nodes that it has blacklisted. */
  public static void putAsksReplaced(FactBuffer out, int app) {
    ByteBuffer to = out.record(12, 12);
    to.putInt(app);
  }

  /** The application wants so many containers, at places that it names (0), on any node (1), or where something is of which the core knows nothing (2). */
  public static void putAsked(FactBuffer out, int app, int priority, int partition, long memoryMb, long vcores, int count, int places) {
    ByteBuffer to = out.record(13, 44);
    to.putInt(app);
    to.putInt(priority);
    to.putInt(partition);
    to.putLong(memoryMb);
    to.putLong(vcores);
    to.putInt(count);
    to.putInt(places);
  }

  /** A container exists; flags: 1 ApplicationMaster; found: 0 new, 1 running, 2 suspended. */
  public static void putAllocated(FactBuffer out, int container, int app, int node, int priority, int partition, long memoryMb, long vcores, int flags, int found) {
    ByteBuffer to = out.record(14, 52);
    to.putInt(container);
    to.putInt(app);
    to.putInt(node);
    to.putInt(priority);
    to.putInt(partition);
    to.putLong(memoryMb);
    to.putLong(vcores);
    to.putInt(flags);
    to.putInt(found);
  }

  /** A node started the container. */
  public static void putLaunched(FactBuffer out, int container) {
    ByteBuffer to = out.record(15, 12);
    to.putInt(container);
  }

  /** The container was demoted. */
  public static void putDemoted(FactBuffer out, int container) {
    ByteBuffer to = out.record(16, 12);
    to.putInt(container);
  }

  /** The container was promoted. */
  public static void putPromoted(FactBuffer out, int container) {
    ByteBuffer to = out.record(17, 12);
    to.putInt(container);
  }

  /** The container ended; exit: 0 succeeded, 1 failed, 2 killed. */
  public static void putCompleted(FactBuffer out, int container, int exit) {
    ByteBuffer to = out.record(18, 16);
    to.putInt(container);
    to.putInt(exit);
  }

  /** Assign was refused; reason: 0 locality, 1 limit, 2 room, 3 gone, 4 observed. */
  public static void putAssignRejected(FactBuffer out, int app, int node, int reason) {
    ByteBuffer to = out.record(19, 20);
    to.putInt(app);
    to.putInt(node);
    to.putInt(reason);
  }

  /** Suspend, Resume or Kill was refused; reasons as for AssignRejected. */
  public static void putContainerRejected(FactBuffer out, int container, int reason) {
    ByteBuffer to = out.record(20, 16);
    to.putInt(container);
    to.putInt(reason);
  }

  /** Somebody put the application aside by hand (1) or took it up again (0). */
  public static void putAppParked(FactBuffer out, int app, int parked) {
    ByteBuffer to = out.record(21, 16);
    to.putInt(app);
    to.putInt(parked);
  }

  /** The same for one container. */
  public static void putContainerParked(FactBuffer out, int container, int parked) {
    ByteBuffer to = out.record(22, 16);
    to.putInt(container);
    to.putInt(parked);
  }

  /** A task said which part of its own work is done, 0 to 1; less than 0: it has not begun that. */
  public static void putProgress(FactBuffer out, int container, double done) {
    ByteBuffer to = out.record(23, 20);
    to.putInt(container);
    to.putDouble(done);
  }

  /** The application said how many tasks of a request priority it has, and how many of them are done. */
  public static void putTasks(FactBuffer out, int app, int priority, int total, int done) {
    ByteBuffer to = out.record(24, 24);
    to.putInt(app);
    to.putInt(priority);
    to.putInt(total);
    to.putInt(done);
  }

  /** The application, or one of its class, ran before; flags: 1 of its class, 2 on virtual nodes; when it ended, in ms after 1970, how long it took, on how many nodes of that side, and the bytes of its input. */
  public static void putRan(FactBuffer out, int app, int flags, long atMs, long tookMs, int nodes, long input) {
    ByteBuffer to = out.record(25, 44);
    to.putInt(app);
    to.putInt(flags);
    to.putLong(atMs);
    to.putLong(tookMs);
    to.putInt(nodes);
    to.putLong(input);
  }

  /** A map of a MapReduce job said which part of its input it has read, 0 to 1, and whether it sorts and writes what it made (1). */
  public static void putMapTold(FactBuffer out, int container, double read, int partitions) {
    ByteBuffer to = out.record(26, 24);
    to.putInt(container);
    to.putDouble(read);
    to.putInt(partitions);
  }

  /** A reduce of a MapReduce job said of how many maps it has the output, how many are done, and how many there are. */
  public static void putReduceTold(FactBuffer out, int container, int fetched, int done, int total) {
    ByteBuffer to = out.record(27, 24);
    to.putInt(container);
    to.putInt(fetched);
    to.putInt(done);
    to.putInt(total);
  }

  /** So many tasks of that request priority took so long each in an earlier run of the application's class, which ended so many ms after 1970. */
  public static void putTasksTook(FactBuffer out, int app, int priority, long atMs, long eachMs, int count) {
    ByteBuffer to = out.record(28, 36);
    to.putInt(app);
    to.putInt(priority);
    to.putLong(atMs);
    to.putLong(eachMs);
    to.putInt(count);
  }

  /** Which fraction of a leaf queue each user is sure of, and how many times its guarantee none gets more of. */
  public static void putUserLimits(FactBuffer out, int queue, double sure, double most) {
    ByteBuffer to = out.record(29, 28);
    to.putInt(queue);
    to.putDouble(sure);
    to.putDouble(most);
  }

  /** The application takes no container on the node. */
  public static void putBlacklisted(FactBuffer out, int app, int node) {
    ByteBuffer to = out.record(30, 16);
    to.putInt(app);
    to.putInt(node);
  }

  /** An application whose containers do not end with their tasks told of a stage; flags: 1 the first of what it tells now, which takes the place of all before, 2 more may follow of which it does not know yet; the request priority of its containers, its tasks, those that run and are done, what each of these took, and how many a container runs at a time. */
  public static void putStage(FactBuffer out, int app, int flags, int priority, int tasks, int running, int done, long eachMs, int slots) {
    ByteBuffer to = out.record(31, 44);
    to.putInt(app);
    to.putInt(flags);
    to.putInt(priority);
    to.putInt(tasks);
    to.putInt(running);
    to.putInt(done);
    to.putLong(eachMs);
    to.putInt(slots);
  }

  /** An application told what an executor is worth to it: 0 it idles, 1 it has tasks, 2 it keeps what others may want of it. */
  public static void putExecutor(FactBuffer out, int container, int worth) {
    ByteBuffer to = out.record(32, 16);
    to.putInt(container);
    to.putInt(worth);
  }

  /** Give the application up to so many containers on the node, and no more than so much room. */
  public static final class Assign {
    public static final int KIND = 101;

    private Assign() {
    }

    public static int app(ByteBuffer from, int at) {
      return from.getInt(at + 8);
    }

    public static int node(ByteBuffer from, int at) {
      return from.getInt(at + 12);
    }

    public static int count(ByteBuffer from, int at) {
      return from.getInt(at + 16);
    }

    public static long memoryMb(ByteBuffer from, int at) {
      return from.getLong(at + 20);
    }

    public static long vcores(ByteBuffer from, int at) {
      return from.getLong(at + 28);
    }
  }

  /** Demote the container; reason: 0 its room is for the application `by`, 1 it is parked, 2 it lends its room, 3 its room is the lender's again, container `by`, 4 it was so and nobody knows why. */
  public static final class Suspend {
    public static final int KIND = 102;

    private Suspend() {
    }

    public static int container(ByteBuffer from, int at) {
      return from.getInt(at + 8);
    }

    public static int reason(ByteBuffer from, int at) {
      return from.getInt(at + 12);
    }

    public static int by(ByteBuffer from, int at) {
      return from.getInt(at + 16);
    }
  }

  /** Promote the container. */
  public static final class Resume {
    public static final int KIND = 103;

    private Resume() {
    }

    public static int container(ByteBuffer from, int at) {
      return from.getInt(at + 8);
    }
  }

  /** Kill the container as a preempted one; cause: 0 its room is for the application `by`, 1 it was suspended for too long, 2 its node had no room for it for too long, 3 it was suspended and in the way of a container that could not start. */
  public static final class Kill {
    public static final int KIND = 104;

    private Kill() {
    }

    public static int container(ByteBuffer from, int at) {
      return from.getInt(at + 8);
    }

    public static int cause(ByteBuffer from, int at) {
      return from.getInt(at + 12);
    }

    public static int by(ByteBuffer from, int at) {
      return from.getInt(at + 16);
    }
  }

  /** Give the application one container of that request priority on the node, and none of any other: the room is lent. */
  public static final class Lend {
    public static final int KIND = 105;

    private Lend() {
    }

    public static int app(ByteBuffer from, int at) {
      return from.getInt(at + 8);
    }

    public static int node(ByteBuffer from, int at) {
      return from.getInt(at + 12);
    }

    public static int priority(ByteBuffer from, int at) {
      return from.getInt(at + 16);
    }
  }

  /** What concerns admission of an application: 0 it gives way and does not count, 1 it waits and has its ApplicationMaster, 2 it waits, in this order, 3 it does, and there is room for it beyond the limit. */
  public static final class Admission {
    public static final int KIND = 106;

    private Admission() {
    }

    public static int app(ByteBuffer from, int at) {
      return from.getInt(at + 8);
    }

    public static int what(ByteBuffer from, int at) {
      return from.getInt(at + 12);
    }
  }

  /** What the core knows of a node, for comparing the books. */
  public static final class NodeView {
    public static final int KIND = 110;

    private NodeView() {
    }

    public static int node(ByteBuffer from, int at) {
      return from.getInt(at + 8);
    }

    public static long usedMemoryMb(ByteBuffer from, int at) {
      return from.getLong(at + 12);
    }

    public static long usedVcores(ByteBuffer from, int at) {
      return from.getLong(at + 20);
    }

    public static int counted(ByteBuffer from, int at) {
      return from.getInt(at + 28);
    }

    public static int suspended(ByteBuffer from, int at) {
      return from.getInt(at + 32);
    }
  }

  /** What the core knows of an application, for comparing the books. */
  public static final class AppView {
    public static final int KIND = 111;

    private AppView() {
    }

    public static int app(ByteBuffer from, int at) {
      return from.getInt(at + 8);
    }

    public static int pending(ByteBuffer from, int at) {
      return from.getInt(at + 12);
    }

    public static int counted(ByteBuffer from, int at) {
      return from.getInt(at + 16);
    }

    public static int suspended(ByteBuffer from, int at) {
      return from.getInt(at + 20);
    }
  }

  /** Counters since the core was made; of the phases that ended lately, how many had been estimated and by which factor those estimates were off on average. */
  public static final class TallyView {
    public static final int KIND = 112;

    private TallyView() {
    }

    public static long suspended(ByteBuffer from, int at) {
      return from.getLong(at + 8);
    }

    public static long resumed(ByteBuffer from, int at) {
      return from.getLong(at + 16);
    }

    public static long rejected(ByteBuffer from, int at) {
      return from.getLong(at + 24);
    }

    public static long strangeFacts(ByteBuffer from, int at) {
      return from.getLong(at + 32);
    }

    public static long claimsExpired(ByteBuffer from, int at) {
      return from.getLong(at + 40);
    }

    public static long wastedMs(ByteBuffer from, int at) {
      return from.getLong(at + 48);
    }

    public static long starvationFirings(ByteBuffer from, int at) {
      return from.getLong(at + 56);
    }

    public static int estimates(ByteBuffer from, int at) {
      return from.getInt(at + 64);
    }

    public static double estimateOff(ByteBuffer from, int at) {
      return from.getDouble(at + 68);
    }
  }

  /** What the jobs of a queue hold and want now, and for how long their containers have been suspended together. Of the phases that ended lately, how many had been estimated and by which factor those estimates were off on average. */
  public static final class QueueLoad {
    public static final int KIND = 113;

    private QueueLoad() {
    }

    public static int queue(ByteBuffer from, int at) {
      return from.getInt(at + 8);
    }

    public static long jobs(ByteBuffer from, int at) {
      return from.getLong(at + 12);
    }

    public static long running(ByteBuffer from, int at) {
      return from.getLong(at + 20);
    }

    public static long pending(ByteBuffer from, int at) {
      return from.getLong(at + 28);
    }

    public static long pendingMb(ByteBuffer from, int at) {
      return from.getLong(at + 36);
    }

    public static long suspended(ByteBuffer from, int at) {
      return from.getLong(at + 44);
    }

    public static long suspendedMb(ByteBuffer from, int at) {
      return from.getLong(at + 52);
    }

    public static long suspendedMs(ByteBuffer from, int at) {
      return from.getLong(at + 60);
    }

    public static int estimates(ByteBuffer from, int at) {
      return from.getInt(at + 68);
    }

    public static double estimateOff(ByteBuffer from, int at) {
      return from.getDouble(at + 72);
    }
  }

  /** A log begins, of a build with this ABI number: it was then so many ms after 1970, and this on the clock of the steps. */
  public static void putBegun(FactBuffer out, int abi, long atMs, long nowMs) {
    ByteBuffer to = out.record(201, 28);
    to.putInt(abi);
    to.putLong(atMs);
    to.putLong(nowMs);
  }

  /** The core is made, or given other properties: the text is a JSON object of strings. */
  public static void putConfigured(FactBuffer out, byte[] text) {
    ByteBuffer to = out.record(202, 8 + text.length);
    to.put(text);
  }

  /** A step at that time; its facts follow, then its answers. */
  public static void putStepped(FactBuffer out, long nowMs) {
    ByteBuffer to = out.record(203, 16);
    to.putLong(nowMs);
  }

  /** These were all answers of the step. */
  public static void putAnswered(FactBuffer out) {
    out.record(204, 8);
  }

  /** The log ends here as it should. */
  public static void putEnded(FactBuffer out) {
    out.record(205, 8);
  }
}
