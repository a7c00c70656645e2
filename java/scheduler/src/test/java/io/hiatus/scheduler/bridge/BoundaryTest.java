package io.hiatus.scheduler.bridge;

import static org.hamcrest.CoreMatchers.allOf;
import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.After;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The boundary as Java sees it: whatever goes wrong in the library is an exception, and the JVM lives on. */
public class BoundaryTest {
  @ClassRule
  public static final TemporaryFolder FOLDER = new TemporaryFolder();

  private static final int LAUNCHED_BYTES = 12;

  private final ByteBuffer answers = FactBuffer.fresh(1 << 16);
  private long core;

  @BeforeClass
  public static void load() {
    Path below = FOLDER.getRoot().toPath();
    NativeLibrary.load(below);
  }

  @Before
  public void create() {
    core = Native.create("{}");
  }

  @After
  public void destroy() {
    Native.destroy(core);
  }

  @Test
  public void theAbiIsTheOneTheJavaSideWasGeneratedFor() {
    assertEquals(Records.ABI, Native.abi());
  }

  @Test
  public void aLibraryOfAnotherBuildIsRefusedWithBothNumbersAndTheRemedy() {
    NativeException e = assertThrows(NativeException.class, () -> NativeLibrary.checkAbi(Records.ABI + 1, "/x/y.so"));
    assertThat(e.getMessage(), allOf(containsString("/x/y.so"), containsString(String.valueOf(Records.ABI)),
        containsString(String.valueOf(Records.ABI + 1)), containsString("same build")));
  }

  @Test
  public void aPanicBecomesAnExceptionWithItsMessageAndBreaksThatCoreOnly() {
    NativeException panic = assertThrows(NativeException.class, () -> Native.testingPanic(core, "the sky is falling"));
    assertThat(panic.getMessage(), containsString("the sky is falling"));

    NativeException broken = assertThrows(NativeException.class, () -> step(core, new FactBuffer()));
    assertThat("half-done work is not trusted", broken.getMessage(), containsString("panicked earlier"));
    assertThrows(NativeException.class, () -> Native.views(core, answers));
    assertThrows(NativeException.class, () -> Native.explain(core));

    long other = Native.create("{}");
    assertEquals(0, step(other, new FactBuffer()));
    Native.destroy(other);
  }

  @Test
  public void everyPanicIsCaught() {
    for (int i = 0; i < 20; i++) {
      long one = Native.create("{}");
      assertThrows(NativeException.class, () -> Native.testingPanic(one, "again"));
      Native.destroy(one);
    }
  }

  @Test
  public void aWrongValueIsRefusedWithKeyValueAndRange() {
    String bad = "{\"yarn.scheduler.hiatus.suspension-budget-ms\": \"many\"}";
    for (NativeException e : new NativeException[] {
        assertThrows(NativeException.class, () -> Native.create(bad)),
        assertThrows(NativeException.class, () -> Native.check(bad)),
        assertThrows(NativeException.class, () -> Native.configure(core, bad))}) {
      assertThat(e.getMessage(), allOf(containsString("yarn.scheduler.hiatus.suspension-budget-ms"), containsString("many"),
          containsString("a whole number from 0 to 2592000000")));
    }
    assertEquals("a refused configuration breaks nothing", 0, step(core, new FactBuffer()));
  }

  @Test
  public void anUnknownPropertyIsRefusedWithTheKnownOnes() {
    NativeException e = assertThrows(NativeException.class,
        () -> Native.check("{\"yarn.scheduler.capacity.root.a.hiatus.polcy\": \"fifo\"}"));
    assertThat(e.getMessage(), allOf(containsString("root.a.hiatus.polcy"), containsString("policy")));
  }

  @Test
  public void whatIsNoJsonObjectOfStringsIsRefused() {
    assertThrows(NativeException.class, () -> Native.create("[1, 2]"));
    assertThrows(NativeException.class, () -> Native.create(""));
  }

  @Test
  public void anUnknownHandleIsRefusedByEveryMethod() {
    long unknown = core + 1_000;
    assertThat(assertThrows(NativeException.class, () -> step(unknown, new FactBuffer())).getMessage(),
        containsString("no core has handle " + unknown));
    assertThrows(NativeException.class, () -> Native.remainingAnswers(unknown, answers));
    assertThrows(NativeException.class, () -> Native.views(unknown, answers));
    assertThrows(NativeException.class, () -> Native.configure(unknown, "{}"));
    assertThrows(NativeException.class, () -> Native.explain(unknown));
    assertThrows(NativeException.class, () -> Native.destroy(unknown));
    assertThrows(NativeException.class, () -> Native.testingPanic(unknown, "nobody hears it"));
  }

  @Test
  public void aCutOffRecordIsRefusedWithItsPlaceAndNothingOfTheBatchIsUsed() {
    FactBuffer facts = new FactBuffer();
    Records.putNode(facts, 1, 1024, 1, 0, 0, 0);
    Records.putLaunched(facts, 1);
    NativeException e = assertThrows(NativeException.class,
        () -> Native.step(core, 1, facts.bytes(), facts.length() - 1, answers));
    assertThat(e.getMessage(), allOf(containsString("cut off"),
        containsString("byte " + (facts.length() - LAUNCHED_BYTES))));
    assertEquals(0, nodesOf(core).size());
  }

  @Test
  public void anUnknownKindIsRefusedWithItsNumber() {
    FactBuffer facts = new FactBuffer();
    facts.record(4711, Records.HEADER);
    NativeException e = assertThrows(NativeException.class, () -> step(core, facts));
    assertThat(e.getMessage(), allOf(containsString("4711"), containsString("byte 0")));
    assertEquals("the core itself is well", 0, step(core, new FactBuffer()));
  }

  @Test
  public void aLengthBeyondTheBufferAndAHeapBufferAreRefused() {
    FactBuffer facts = new FactBuffer();
    int beyond = facts.bytes().capacity() + 1;
    assertThat(assertThrows(NativeException.class, () -> Native.step(core, 1, facts.bytes(), beyond, answers)).getMessage(),
        containsString(String.valueOf(beyond)));
    assertThrows(NativeException.class, () -> Native.step(core, 1, facts.bytes(), -1, answers));
    assertThrows(NativeException.class, () -> Native.step(core, 1, ByteBuffer.allocate(64), 0, answers));
  }

  @Test
  public void answersLargerThanTheBufferComeInParts() {
    int many = 1_000;
    FactBuffer facts = new FactBuffer();
    for (int node = 0; node < many; node++) {
      Records.putNode(facts, node, 1024, 1, 0, 0, 0);
    }
    step(core, facts);
    ByteBuffer small = FactBuffer.fresh(100);
    Set<Integer> seen = new HashSet<>();
    int parts = 0;
    for (int length = Native.views(core, small); length > 0; length = Native.remainingAnswers(core, small)) {
      parts++;
      for (int at = 0; at < length; at += small.getInt(at + 4)) {
        if (small.getInt(at) == Records.NodeView.KIND) {
          assertTrue("each comes once", seen.add(Records.NodeView.node(small, at)));
        }
      }
    }
    assertEquals(many, seen.size());
    assertTrue("whole records of 36 bytes in 100: " + parts, parts >= many / 2);
    assertEquals("and then no more", 0, Native.remainingAnswers(core, small));
  }

  private int step(long handle, FactBuffer facts) {
    return (int) Native.step(handle, 1, facts.bytes(), facts.length(), answers);
  }

  private Set<Integer> nodesOf(long handle) {
    Set<Integer> nodes = new HashSet<>();
    int length = Native.views(handle, answers);
    for (int at = 0; at < length; at += answers.getInt(at + 4)) {
      if (answers.getInt(at) == Records.NodeView.KIND) {
        nodes.add(Records.NodeView.node(answers, at));
      }
    }
    return nodes;
  }
}
