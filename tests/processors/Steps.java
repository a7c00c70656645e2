import io.hiatus.scheduler.bridge.FactBuffer;
import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.NativeLibrary;
import io.hiatus.scheduler.bridge.Records;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.CRC32;

/**
 * A thousand steps of the library in the class path's jar, on a small cluster that does whatever it decides: what that says
 * is the same wherever it runs. Arguments: a folder to extract the library below. Prints each kind of decision with how many
 * there were, and a checksum of all their bytes.
 */
final class Steps {
  private static final int NODES = 4;
  private static final int STEPS = 1_000;
  private static final int STEP_MS = 1_000;
  private static final int MEMORY_MB = 1_024;

  /** A container, its node, and whether it runs. */
  private static final class Container {
    final int node;
    boolean runs = true;

    Container(int node) {
      this.node = node;
    }
  }

  private final Random random = new Random(42);
  private final FactBuffer facts = new FactBuffer();
  private final ByteBuffer answers = FactBuffer.fresh(1 << 16);
  private final CRC32 sum = new CRC32();
  private final TreeMap<Integer, Integer> decisions = new TreeMap<>();
  private final TreeMap<Integer, Container> containers = new TreeMap<>();
  private int nextContainer;
  private int nextApp;

  public static void main(String[] args) {
    NativeLibrary.load(Paths.get(args[0]));
    new Steps().run();
  }

  private void run() {
    long core = Native.create("{}");
    Records.putQueue(facts, 0, 0, 6, "root".getBytes(StandardCharsets.UTF_8));
    Records.putQueueShare(facts, 0, 0, 1, 1);
    Records.putQueue(facts, 1, 0, 7, "root.default".getBytes(StandardCharsets.UTF_8));
    Records.putQueueShare(facts, 1, 0, 1, 1);
    for (int node = 0; node < NODES; node++) {
      Records.putNode(facts, node, 8 * MEMORY_MB, 64, 0, 3, 0);
    }
    for (int step = 0; step < STEPS; step++) {
      if (step % 10 == 0) {
        submit(step, step % 100 == 0 ? 200 : 1 + random.nextInt(8));
      }
      for (int node = 0; node < NODES; node++) {
        int at = node;
        int paused = (int) containers.values().stream().filter(c -> c.node == at && !c.runs).count();
        Records.putHeartbeat(facts, node, paused, 0);
      }
      for (Integer id : new ArrayList<>(containers.keySet())) {
        if (containers.get(id).runs && random.nextInt(20) == 0) {
          end(id, 0);
        }
      }
      int length = (int) Native.step(core, (long) step * STEP_MS, facts.bytes(), facts.length(), answers);
      facts.clear();
      carryOut(length);
    }
    Native.destroy(core);
    System.out.println(STEPS + " steps: decisions " + decisions + ", checksum " + sum.getValue());
  }

  private void submit(int step, int tasks) {
    int app = nextApp++;
    byte[] name = ("job" + app + "\nMAPREDUCE").getBytes(StandardCharsets.UTF_8);
    Records.putApp(facts, app, 1, 0, 0, (long) step * STEP_MS, 0, app, name);
    Records.putAppActive(facts, app, 1);
    Records.putAsked(facts, app, 1, 0, MEMORY_MB, 1, tasks, 1);
  }

  private void end(int id, int how) {
    containers.remove(id);
    Records.putCompleted(facts, id, how);
  }

  private void carryOut(int length) {
    ByteBuffer bytes = answers.duplicate();
    bytes.position(0).limit(length);
    sum.update(bytes);
    for (int at = 0; at < length; at += answers.getInt(at + 4)) {
      int kind = answers.getInt(at);
      decisions.merge(kind, 1, Integer::sum);
      switch (kind) {
        case Records.Assign.KIND:
          assigned(at);
          break;
        case Records.Suspend.KIND:
          containers.get(Records.Suspend.container(answers, at)).runs = false;
          Records.putDemoted(facts, Records.Suspend.container(answers, at));
          break;
        case Records.Resume.KIND:
          containers.get(Records.Resume.container(answers, at)).runs = true;
          Records.putPromoted(facts, Records.Resume.container(answers, at));
          break;
        case Records.Kill.KIND:
          end(Records.Kill.container(answers, at), 2);
          break;
        default:
          throw new IllegalStateException("a decision of kind " + kind);
      }
    }
  }

  private void assigned(int at) {
    for (int i = 0; i < Records.Assign.count(answers, at); i++) {
      int id = nextContainer++;
      int node = Records.Assign.node(answers, at);
      containers.put(id, new Container(node));
      Records.putAllocated(facts, id, Records.Assign.app(answers, at), node, 1, 0, MEMORY_MB, 1, 0, 0);
      Records.putLaunched(facts, id);
    }
  }
}
