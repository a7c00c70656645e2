package io.hiatus.scheduler;

import io.hiatus.scheduler.cluster.ClusterView;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.engine.Engine;
import io.hiatus.scheduler.engine.Ticker;
import io.hiatus.scheduler.facts.CoreFeed;
import io.hiatus.scheduler.progress.MasterTls;
import io.hiatus.scheduler.progress.ProgressPoller;
import io.hiatus.scheduler.progress.ReportReceiver;
import io.hiatus.scheduler.state.AppSaver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.stream.Collectors;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of Hiatus in the active ResourceManager, from its scheduler's start to its stop. */
final class Services {
  private static final Logger LOG = LoggerFactory.getLogger(Services.class);
  private static final long WATCH_MS = 1_000;

  private final ClusterView cluster;
  private final CoreFeed feed;
  private final Engine engine;
  private final Lock lock;
  /** Saves behind demotions; may be null. */
  private final AppSaver saver;
  private final Ticker ticker;
  private final Thread watchdog;
  private ProgressPoller poller;
  private ReportReceiver receiver;

  /** {@code lock} is the scheduler's write lock, {@code saver} null where there is nothing to save. */
  Services(ClusterView cluster, CoreFeed feed, Engine engine, Lock lock, AppSaver saver, HiatusConfiguration conf) {
    this.cluster = cluster;
    this.feed = feed;
    this.engine = engine;
    this.lock = lock;
    this.saver = saver;
    ticker = new Ticker(conf.stepIntervalMs(), this::tick);
    watchdog = new Thread(this::watch, "HiatusWatchdog");
    watchdog.setDaemon(true);
  }

  /** Starts all that the configuration wants. */
  void start(HiatusConfiguration conf) {
    ticker.start();
    watchdog.start();
    if (saver != null) {
      saver.start();
    }
    startReceiver(conf.reportAddress());
    if (conf.progressIntervalMs() > 0) {
      poller = new ProgressPoller(this::apps, feed::facts, id -> receiver != null && receiver.hears(id),
          id -> MasterTls.of(cluster.getRMContext().getProxyCAManager().getProxyCA(), id), conf);
      poller.start();
    }
  }

  /** Without it jobs are asked, or nothing is known of their tasks: nothing that the ResourceManager should not start for. */
  private void startReceiver(InetSocketAddress address) {
    if (address == null) {
      return;
    }
    try {
      receiver = new ReportReceiver(address, cluster.getRMContext().getAMRMTokenSecretManager(), this::containersOf, feed::facts,
          Time::monotonicNow);
      receiver.start();
    } catch (IOException e) {
      LOG.error("HIATUS: jobs cannot report on {} ({})", address, HiatusConfiguration.REPORT_PORT, e);
    }
  }

  /** There is more to do for the core: the next tick comes at once. */
  void wake() {
    ticker.wake();
  }

  /** Stops all, and waits for each no longer than {@code patienceMs}. */
  void stop(long patienceMs) throws InterruptedException {
    if (poller != null) {
      poller.end();
    }
    if (receiver != null) {
      receiver.end();
    }
    for (Thread thread : new Thread[] {ticker, watchdog, poller, receiver}) {
      end(thread, patienceMs);
    }
    if (saver != null) {
      saver.end();
      saver.join(patienceMs);
      end(saver, patienceMs);
    }
  }

  private static void end(Thread thread, long patienceMs) throws InterruptedException {
    if (thread != null) {
      thread.interrupt();
      thread.join(patienceMs); // whoever is late finds no core, and nobody who listens
    }
  }

  private boolean tick() {
    lock.lock();
    try {
      return engine.tick();
    } finally {
      lock.unlock();
    }
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(WATCH_MS);
        engine.watch();
      }
    } catch (InterruptedException e) {
      // The scheduler stops.
    }
  }

  private int containersOf(ApplicationAttemptId id) {
    SchedulerApplicationAttempt attempt = cluster.getApplicationAttempt(id);
    return attempt == null || !attempt.getApplicationAttemptId().equals(id) ? -1 : attempt.getLiveContainersMap().size();
  }

  private List<RMApp> apps() {
    return cluster.getSchedulerApplications().keySet().stream().map(cluster.getRMContext().getRMApps()::get)
        .filter(Objects::nonNull).collect(Collectors.toList());
  }
}
