package io.hiatus.scheduler;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.hiatus.scheduler.PeerLoad.Want;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.web.HiatusPages;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils;
import org.apache.hadoop.yarn.server.resourcemanager.ApplicationMasterService;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.webapp.RMWebApp;
import org.apache.hadoop.yarn.webapp.WebApp;
import org.apache.hadoop.yarn.webapp.WebApps;
import org.slf4j.event.Level;

/**
 * A ResourceManager with its web interface, and a load that goes on at the pace of a cluster: one round of calls and heartbeats a
 * second. scripts/bench page looks at its page meanwhile.
 *
 * <p>Arguments: nodes=, apps=. Each line of input is a number of rounds to be played and measured; what came of it is a line of
 * JSON. The first line of output is the port.
 */
public final class PageBench {
  private static final int QUEUES = 4;
  private static final int SLOTS = 10;
  private static final int WARMUP_ROUNDS = 20;
  /** What applications want, in percent of the cluster. */
  private static final int FILL = 130;
  private static final long PACE_MS = 1000;

  private PageBench() {
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Integer> options = new HashMap<>();
    for (String argument : arguments) {
      String[] pair = argument.split("=", 2);
      options.put(pair[0], Integer.parseInt(pair[1]));
    }
    PrintStream out = System.out;
    System.setOut(System.err); // for the log
    // Not otherwise: threads of the ResourceManager's would keep the JVM.
    int code = 1;
    try {
      play(options.get("nodes"), options.get("apps"), out);
      code = 0;
    } catch (Exception | Error e) {
      e.printStackTrace();
    }
    Runtime.getRuntime().halt(code);
  }

  private static void play(int nodes, int apps, PrintStream out) throws Exception {
    Configuration conf = BenchCluster.configuration(HiatusScheduler.class);
    conf.set(HiatusConfiguration.MODE, "suspend");
    // Memory keeps nothing from being suspended.
    conf.set(HiatusConfiguration.PREFIX + "max-suspended-memory", "1");
    MockCluster.queues(conf, "root", "q0", 25, "q1", 25, "q2", 25, "q3", 25);
    for (int i = 0; i < QUEUES; i++) {
      conf.set(MockCluster.queue("root.q" + i, "user-limit-factor"), "1000");
    }
    HoldMeter[] holds = new HoldMeter[1];
    MockRM rm = new MockRM(conf) {
      @Override
      protected ResourceScheduler createScheduler() {
        ResourceScheduler created = super.createScheduler();
        try {
          holds[0] = HoldMeter.install((AbstractYarnScheduler<?, ?>) created);
        } catch (ReflectiveOperationException e) {
          throw new IllegalStateException("the scheduler's lock is not where Hadoop 3.4 has it", e);
        }
        return created;
      }
    };
    GenericTestUtils.setRootLogLevel(Level.ERROR);
    rm.start();
    WebApp app = WebApps.$for("cluster", ApplicationMasterService.class, rm.getApplicationMasterService(), "ws")
        .with(rm.getConfig()).at("127.0.0.1", 0, true).start(new RMWebApp(rm));
    HiatusPages.addTo(app, rm);
    PeerLoad load = new PeerLoad(rm, QUEUES, 7);
    load.join(nodes, SLOTS, 0);
    // Half of them fill the cluster, and the others want a few containers each then.
    int few = Math.max(1, nodes * SLOTS / apps / 2);
    int many = Math.max(1, 2 * nodes * SLOTS * FILL / 100 / apps - few);
    load.submit(apps / 2, i -> Want.lasting(many, BenchCluster.TASK_MB));
    round(load, WARMUP_ROUNDS);
    load.submit(apps - apps / 2, i -> Want.ending(few, 0));
    round(load, WARMUP_ROUNDS);
    out.println(app.port());
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      load.resetTimes();
      holds[0].reset();
      round(load, Integer.parseInt(line));
      out.println(new ObjectMapper().writeValueAsString(measured(load, holds[0], (HiatusScheduler) rm.getResourceScheduler())));
    }
  }

  private static void round(PeerLoad load, int rounds) throws InterruptedException {
    for (int i = 0; i < rounds; i++) {
      long begun = System.nanoTime();
      load.call();
      load.beat();
      Thread.sleep(Math.max(0, PACE_MS - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun)));
    }
  }

  private static Map<String, Object> measured(PeerLoad load, HoldMeter holds, HiatusScheduler scheduler) {
    Map<String, Object> result = new LinkedHashMap<>();
    times(result, "node update", load.beats);
    times(result, "allocate", load.calls);
    result.put("longest hold by others ms", holds.longestNanos() / 1e6);
    result.put("longest hold by", holds.longestBy());
    result.put("fault", scheduler.operatorService().fault());
    result.put("live", load.live());
    result.put("suspended", scheduler.demotions.count());
    return result;
  }

  private static void times(Map<String, Object> result, String what, Samples samples) {
    result.put(what + " p50 us", samples.quantile(0.5) / 1e3);
    result.put(what + " p99 us", samples.quantile(0.99) / 1e3);
    result.put(what + " mean us", samples.mean() / 1e3);
    result.put(what + " max ms", samples.max() / 1e6);
  }
}
