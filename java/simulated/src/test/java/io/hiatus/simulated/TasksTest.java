package io.hiatus.simulated;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import org.apache.hadoop.yarn.api.records.Resource;
import org.junit.Test;

/** Four maps and two reduces, which are asked for once half of the maps are done. */
public class TasksTest {
  private final Tasks tasks = new Tasks(Arrays.asList(stage(4, 1), stage(2, 0.5)));

  @Test
  public void reducesAreAskedForAfterSlowstartAndOnceNoMapWaits() {
    assertEquals(4, tasks.wanted(0));
    take(0, 3);
    end(0, 2);
    assertEquals("a map waits", 0, tasks.wanted(1));
    take(0, 1);
    assertEquals(2, tasks.wanted(1));
    assertFalse("maps run", tasks.isOpen(1));
    end(0, 2);
    assertTrue(tasks.isOpen(1));
  }

  @Test
  public void reducesAreNotAskedForBeforeSlowstart() {
    take(0, 4);
    end(0, 1);
    assertEquals(0, tasks.wanted(1));
  }

  @Test
  public void aLostTaskIsDoneAgain() {
    take(0, 4);
    tasks.lost(0, 2);
    assertEquals(1, tasks.wanted(0));
    assertEquals(Integer.valueOf(2), tasks.take(0));
    assertNull(tasks.take(0));
  }

  @Test
  public void reducesBlockTheirJobWhereItsLastMapHasNoContainer() {
    take(0, 4);
    end(0, 3);
    take(1, 2);
    assertFalse(tasks.blocksItself(1));
    tasks.lost(0, 3);
    assertTrue(tasks.blocksItself(1));
  }

  @Test
  public void aJobIsOverWithItsReduces() {
    take(0, 4);
    end(0, 4);
    take(1, 2);
    end(1, 1);
    assertFalse(tasks.allDone());
    assertEquals(5 / 6f, tasks.progress(), 0.001);
    end(1, 1);
    assertTrue(tasks.allDone());
  }

  private void take(int stage, int count) {
    for (int i = 0; i < count; i++) {
      tasks.take(stage);
    }
  }

  private void end(int stage, int count) {
    for (int i = 0; i < count; i++) {
      tasks.ended(stage);
    }
  }

  private static JobSpec.Stage stage(int count, double slowstart) {
    return new JobSpec.Stage(new long[count], Resource.newInstance(1024, 1), slowstart);
  }
}
