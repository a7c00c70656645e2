package io.hiatus.scheduler;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Map;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

/** The benchmark of schedulers does to each what it says, on a small cluster. */
@RunWith(Parameterized.class)
public class PeerBenchTest {
  private static final int NODES = 8;
  private static final int SLOTS = 10;
  private static final int APPS = 20;

  private final Class<? extends ResourceScheduler> scheduler;

  public PeerBenchTest(Class<? extends ResourceScheduler> scheduler) {
    this.scheduler = scheduler;
  }

  @Parameters(name = "{0}")
  public static Iterable<Object> schedulers() {
    return Arrays.<Object>asList(HiatusScheduler.class, CapacityScheduler.class);
  }

  private Map<String, Object> run(String load, int fill) throws Exception {
    return run(load, fill, false);
  }

  private Map<String, Object> run(String load, int fill, boolean profile) throws Exception {
    int seconds = profile ? 3 : 1; // the library's part is small: a profile of a second may miss it
    try (PeerBench bench = new PeerBench(scheduler, load, NODES, SLOTS, APPS, fill, seconds, profile)) {
      Map<String, Object> result = bench.run();
      assertNull(result.get("fault"));
      assertTrue(result.toString(), (double) result.get("longest hold ms") > 0);
      return result;
    }
  }

  private static long count(Map<String, Object> result, String name) {
    return ((Number) result.get(name)).longValue();
  }

  @Test
  public void churnGivesOutWhatEnds() throws Exception {
    Map<String, Object> result = run("churn", 120);
    assertTrue(result.toString(), count(result, "given") > 0);
    assertTrue(result.toString(), (double) result.get("containers per CPU s") > 0);
    assertTrue(result.toString(), (double) result.get("node update p99 us") > 0);
  }

  @Test
  @SuppressWarnings("unchecked")
  public void aProfileTellsPartsOfOneWhole() throws Exception {
    Map<String, Double> shares = (Map<String, Double>) run("churn", 120, true).get("shares");
    assertEquals(1, shares.values().stream().mapToDouble(Double::doubleValue).sum(), 1e-9);
    assertTrue(shares.toString(), shares.containsKey("stock: commit of a container"));
    assertEquals(scheduler == HiatusScheduler.class, shares.containsKey("Hiatus: library"));
  }

  @Test
  public void whatHappensOnceHasAProfileToo() throws Exception {
    for (String load : Arrays.asList("restart", "morning")) {
      assertTrue(load, run(load, 100, true).containsKey("shares"));
    }
  }

  @Test
  public void fullHasNoRoom() throws Exception {
    Map<String, Object> result = run("full", 100);
    assertEquals(NODES * SLOTS, count(result, "live"));
    assertEquals(APPS * 10, count(result, "asked"));
  }

  @Test
  public void limitedUsersGetNoMoreThoughThereIsRoom() throws Exception {
    Map<String, Object> result = run("limited", 100);
    assertTrue(result.toString(), count(result, "live") < NODES * SLOTS);
    assertEquals(NODES * SLOTS, count(result, "live") + count(result, "asked"));
    assertEquals(0, count(result, "given"));
  }

  @Test
  public void fragmentedHasRoomForSmallAsksOnly() throws Exception {
    Map<String, Object> result = run("fragmented", 100);
    assertTrue(result.toString(), count(result, "given") > 0);
    assertTrue(result.toString(), count(result, "live") < NODES * SLOTS);
    assertTrue(result.toString(), count(result, "asked") >= APPS / 2);
  }

  @Test
  public void restartRecoversAllThatRuns() throws Exception {
    Map<String, Object> result = run("restart", 100);
    assertTrue(result.toString(), count(result, "given") > 0);
    assertEquals(NODES * SLOTS + count(result, "given"), count(result, "live"));
  }

  @Test
  public void morningPlacesEverything() throws Exception {
    Map<String, Object> result = run("morning", 100);
    assertEquals(NODES * SLOTS, count(result, "given"));
  }
}
