package io.hiatus.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import io.hiatus.report.ExecutorReport;
import io.hiatus.report.ExecutorReport.Worth;
import io.hiatus.report.Report;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.Test;

/** What executors are worth to their application, and how that is sent. */
public class ExecutorsTest {
  private static final Set<Integer> STAGES = new HashSet<>(Arrays.asList(3, 4));
  private static final byte[] SECRET = "a password".getBytes();

  private final Executors executors = new Executors(false);

  private static Worth worth(Executors of) {
    of.runsIn("1", 7);
    return of.worth(STAGES).get(7L);
  }

  @Test
  public void whoHasNoTaskIdles() {
    assertEquals(Worth.IDLE, worth(executors));
    executors.begins("1");
    executors.begins("1");
    assertEquals(Worth.BUSY, worth(executors));
    executors.ends("1", null);
    assertEquals(Worth.BUSY, worth(executors));
    executors.ends("1", null);
    assertEquals(Worth.IDLE, worth(executors));
  }

  @Test
  public void whoHasBlocksOfAnRddKeepsSomethingUntilThatIsGivenUp() {
    executors.keeps("1", 5);
    assertEquals(Worth.KEEPS, worth(executors));
    executors.forget(5);
    assertEquals(Worth.IDLE, worth(executors));
  }

  @Test
  public void outputsAreKeptAsLongAsAJobHasTheirStageUnlessNodesServeThem() {
    executors.ends("1", 3);
    assertEquals(Worth.KEEPS, worth(executors));
    assertEquals(Collections.singletonMap(7L, Worth.IDLE), executors.worth(Collections.singleton(4)));
    Executors served = new Executors(true);
    served.ends("1", 3);
    assertEquals(Worth.IDLE, worth(served));
  }

  @Test
  public void nothingIsSaidOfWhoHasNotSaidItsContainerOrIsGone() {
    executors.begins("2");
    executors.runsIn("1", 7);
    executors.remove("1");
    assertEquals(Collections.emptyMap(), executors.worth(STAGES));
  }

  private static byte[] signed(Map<Long, Worth> worth) {
    return new ExecutorReport(77, 5, 2, 3, 1_000, worth).signed(SECRET);
  }

  private static ExecutorReport read(byte[] packet) throws IOException {
    return (ExecutorReport) Report.read(packet, packet.length);
  }

  @Test
  public void whatIsSentIsRead() throws Exception {
    Map<Long, Worth> all = new LinkedHashMap<>();
    LongStream.rangeClosed(1, ExecutorReport.MOST_EXECUTORS).forEach(i -> all.put(i, Worth.values()[(int) i % 3]));
    byte[] packet = signed(all);
    assertEquals(all, read(packet).executors);
    all.put(all.size() + 1L, Worth.IDLE);
    byte[] more = signed(all);
    assertThrows("one more does not fit", IOException.class, () -> read(more));
  }

  @Test
  public void whatCannotBeIsNotRead() {
    assertThrows(IOException.class, () -> read(signed(Collections.singletonMap(0L, Worth.IDLE))));
    byte[] packet = signed(Collections.singletonMap(7L, Worth.KEEPS));
    packet[packet.length - 32 - 1] = 3; // the last byte before the signature
    assertThrows(IOException.class, () -> read(packet));
  }
}
