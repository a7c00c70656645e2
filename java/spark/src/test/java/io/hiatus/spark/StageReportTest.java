package io.hiatus.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.hiatus.report.Report;
import io.hiatus.report.StageReport;
import io.hiatus.report.StageReport.Stage;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.Test;

/** What is sent is what is read, and what cannot be is not read. */
public class StageReportTest {
  private static final byte[] SECRET = "a password".getBytes();

  private static byte[] signed(List<Stage> stages) {
    return new StageReport(77, 5, 2, 3, 1_000, true, stages).signed(SECRET);
  }

  private static StageReport read(byte[] packet) throws IOException {
    return (StageReport) Report.read(packet, packet.length);
  }

  @Test
  public void whatIsSentIsRead() throws Exception {
    byte[] packet = signed(Arrays.asList(new Stage(0, 200, 4, 120, 2_050, 2), new Stage(1, 7, 0, 0, 0, 1)));
    assertTrue(Report.isSigned(packet, packet.length, SECRET));
    assertFalse(Report.isSigned(packet, packet.length, "another".getBytes()));
    StageReport report = read(packet);
    assertEquals(Arrays.asList(77L, 5L, 2L, 3L, 1_000L), Arrays.asList(report.clusterTimestamp, (long) report.application,
        (long) report.attempt, (long) report.keyId, report.number));
    assertTrue(report.more);
    assertEquals("[priority 0: 120 done, 4 running of 200, 2050 ms, 2 at a time, priority 1: 0 done, 0 running of 7, 0 ms, 1 at a time]",
        report.stages.toString());
  }

  @Test
  public void asManyStagesAsMayBeAreOnePacket() throws Exception {
    byte[] packet = signed(Collections.nCopies(StageReport.MOST_STAGES, new Stage(0, 1, 0, 1, 1, 1)));
    assertTrue(packet.length <= Report.MOST_BYTES);
    assertEquals(StageReport.MOST_STAGES, read(packet).stages.size());
    byte[] more = signed(Collections.nCopies(StageReport.MOST_STAGES + 1, new Stage(0, 1, 0, 1, 1, 1)));
    assertThrows(IOException.class, () -> read(more));
  }

  @Test
  public void whatCannotBeIsNotRead() {
    List<Stage> absurd = Arrays.asList(new Stage(-2, 10, 0, 5, 1, 1), new Stage(0, -1, 0, 0, 1, 1), new Stage(0, 10, -1, 5, 1, 1),
        new Stage(0, 10, 0, -5, 1, 1), new Stage(0, 10, 6, 5, 1, 1), new Stage(0, StageReport.MOST_TASKS + 1, 0, 5, 1, 1),
        new Stage(0, Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, 1, 1), new Stage(0, 10, 0, 5, -1, 1),
        new Stage(0, 10, 0, 5, StageReport.LONGEST_MS + 1, 1), new Stage(0, 10, 0, 5, 1, 0), new Stage(0, 10, 0, 5, 1, -1),
        new Stage(0, 10, 0, 5, 1, StageReport.MOST_SLOTS + 1));
    for (Stage stage : absurd) {
      byte[] packet = signed(Collections.singletonList(stage));
      assertThrows(stage.toString(), IOException.class, () -> read(packet));
    }
  }
}
