package io.hiatus.scheduler.bridge;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.Test;

/** Numbers for things. */
public class HandlesTest {
  private final Handles<String> handles = new Handles<>(7);

  @Test
  public void aThingKeepsItsNumber() {
    assertEquals(7, handles.intern("a"));
    assertEquals(8, handles.intern("b"));
    assertEquals(7, handles.intern("a"));
    assertEquals("a", handles.thing(7));
    assertEquals(Integer.valueOf(8), handles.of("b"));
  }

  @Test
  public void anUnknownThingHasNoneAndGetsNone() {
    assertNull(handles.of("a"));
    assertNull(handles.thing(7));
    assertNull(handles.remove("a"));
    assertEquals(7, handles.intern("first"));
  }

  @Test
  public void aNumberIsNeverUsedTwice() {
    int first = handles.intern("a");
    assertEquals(Integer.valueOf(first), handles.remove("a"));
    assertNull(handles.thing(first));
    assertNotEquals("a late fact about the old one must not hit the new one", first, handles.intern("a"));
  }

  @Test
  public void threadsGetDifferentNumbers() {
    Set<Integer> numbers = IntStream.range(0, 10_000).parallel().mapToObj(i -> handles.intern("thing " + i))
        .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(10_000, numbers.size());
  }
}
