package io.hiatus.scheduler.bridge;

import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteOrder;
import org.junit.Test;

/** The buffer that facts are written into. */
public class FactBufferTest {
  @Test
  public void growsWithoutLosingOrMovingAnything() {
    FactBuffer buffer = new FactBuffer();
    int capacity = buffer.bytes().capacity();
    int records = 3 * capacity / 12;
    for (int i = 0; i < records; i++) {
      Records.putLaunched(buffer, i);
    }
    assertTrue(buffer.bytes().capacity() > capacity);
    assertEquals(12 * records, buffer.length());
    assertTrue(buffer.bytes().isDirect());
    assertEquals(ByteOrder.LITTLE_ENDIAN, buffer.bytes().order());
    for (int i = 0; i < records; i++) {
      assertEquals(15, buffer.bytes().getInt(12 * i));
      assertEquals(12, buffer.bytes().getInt(12 * i + 4));
      assertEquals(i, buffer.bytes().getInt(12 * i + 8));
    }
  }

  @Test
  public void takesARecordLargerThanItself() {
    FactBuffer buffer = new FactBuffer();
    byte[] path = new byte[5 * buffer.bytes().capacity()];
    Records.putQueue(buffer, 1, 0, 0, path);
    assertEquals(20 + path.length, buffer.length());
    assertEquals("whoever reads it goes by the length in the header", buffer.length(), buffer.bytes().getInt(4));
  }

  @Test
  public void refusesWhatIsBeyondItsLimitAndKeepsWhatItHas() {
    FactBuffer buffer = new FactBuffer(100);
    for (int i = 0; i < 8; i++) {
      Records.putLaunched(buffer, i);
    }
    IllegalStateException e = assertThrows(IllegalStateException.class, () -> Records.putLaunched(buffer, 8));
    assertThat(e.getMessage(), containsString("more than 100 bytes of facts"));
    assertEquals(96, buffer.length());
    assertEquals(7, buffer.bytes().getInt(12 * 7 + 8));
  }

  @Test
  public void isEmptyAgainAfterClear() {
    FactBuffer buffer = new FactBuffer();
    Records.putLaunched(buffer, 1);
    buffer.clear();
    assertEquals(0, buffer.length());
  }
}
