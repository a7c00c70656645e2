package io.hiatus.scheduler.cli;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.hiatus.scheduler.MockCluster;
import io.hiatus.scheduler.OneSuspended;
import io.hiatus.scheduler.explain.NamedExplanation;
import java.util.Arrays;
import java.util.Collections;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.Test;

/** What administrators read of the answers: each column has what its key says. */
public class AnswerTablesTest extends OneSuspended {
  private static void assertRow(String table, Object... cells) {
    String row = Arrays.stream(cells).map(cell -> Pattern.quote(cell.toString())).collect(Collectors.joining(" {2,}"));
    assertTrue(table, Pattern.compile("^ *" + row + " *$", Pattern.MULTILINE).matcher(table).find());
  }

  @Test
  public void aParkedJobIsSeenInEachOfThem() throws Exception {
    try (MockCluster cluster = MockCluster.plain()) {
      suspendOne(cluster);
      cluster.scheduler().operatorService().park(big.id(), true);
      cluster.rounds(3);
      JsonNode all = cluster.scheduler().operatorService().explained()
          .part(id -> true, new NamedExplanation.Wanted(Collections.emptySet(), null, 0, Integer.MAX_VALUE));

      String jobs = AnswerTables.jobs(all);
      assertRow(jobs, "Rank Application", "Queue", "Priority", "Target", "Held", "Wanted", "Suspended", "Left, s Sized by", "Waits for");
      assertRow(jobs, "2 " + big.id(), "root.default", 0, "5.6%", "50.0%", 0, 2, "53.3", "being woken by hand");
      assertRow(AnswerTables.queues(all), "root.default", "33.3%", "77.8%", 2, 0, 2);
      assertRow(AnswerTables.nodes(all), node.id(), 2, 2048, 2304, 3584, NODE_MB);
      String standing = AnswerTables.suspendedAndParked(all);
      assertRow(standing, big.id(), 2);
      String why = "suspended +it was put aside by hand +being woken by hand";
      assertTrue(standing, Pattern.compile(suspended + " +" + node.id() + " +\\d+ " + why).matcher(standing).find());
      assertEquals("the small job is not parked", 2, standing.split("Application|" + small.id(), -1).length);
      String status = AnswerTables.status(all);
      assertRow(status, "mode", "suspend");
      assertRow(status, "jobs", 2);
      assertRow(status, "resumed", 0);
    }
  }

  @Test
  public void whereThereIsNothingItSaysSo() throws Exception {
    JsonNode nothing = new ObjectMapper().readTree("{\"mode\":\"off\",\"fault\":\"no library\",\"jobs\":[],\"suspended_now\":0}");
    assertTrue(AnswerTables.jobs(nothing).endsWith("none\n"));
    assertEquals(3, AnswerTables.suspendedAndParked(nothing).split("none\n", -1).length - 1);
    assertTrue(AnswerTables.status(nothing).contains("yes: no library"));
  }

  @Test
  public void whoeverElsePlacesIsNamedFirst() throws Exception {
    assertTrue(jobs("off", "\"no library\"").startsWith("Stock CapacityScheduler has taken over: no library. After mending"));
    assertTrue(jobs("off", "null").startsWith("Hiatus is switched off"));
    assertTrue(jobs("observe", "null").startsWith("Hiatus only observes"));
    assertEquals("none\n", jobs("suspend", "null"));
  }

  private static String jobs(String mode, String fault) throws Exception {
    return AnswerTables.jobs(new ObjectMapper().readTree("{\"mode\":\"" + mode + "\",\"fault\":" + fault + ",\"jobs\":[]}"));
  }
}
