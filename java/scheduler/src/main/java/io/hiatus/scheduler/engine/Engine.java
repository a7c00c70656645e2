package io.hiatus.scheduler.engine;

import io.hiatus.scheduler.apply.Admission;
import io.hiatus.scheduler.apply.DecisionExecutor;
import io.hiatus.scheduler.apply.PreemptionMonitorGuard;
import io.hiatus.scheduler.bridge.Answers;
import io.hiatus.scheduler.bridge.Native;
import io.hiatus.scheduler.bridge.NativeException;
import io.hiatus.scheduler.bridge.NativeLibrary;
import io.hiatus.scheduler.cluster.ClusterAccess;
import io.hiatus.scheduler.config.HiatusConfiguration;
import io.hiatus.scheduler.config.HiatusConfiguration.Mode;
import io.hiatus.scheduler.explain.Explainer;
import io.hiatus.scheduler.explain.NamedExplanation;
import io.hiatus.scheduler.explain.TimeLeft;
import io.hiatus.scheduler.facts.CoreFeed;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.facts.SnapshotReporter;
import io.hiatus.scheduler.hadoop.HadoopVersion;
import io.hiatus.scheduler.metrics.HiatusMetrics;
import io.hiatus.scheduler.metrics.Timeline;
import io.hiatus.scheduler.recording.Recording;
import io.hiatus.scheduler.state.Demotions;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.hadoop.util.Time;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the core and watches over it: whatever is wrong with the library, its time or its books, or with our own code
 * wherever CapacityScheduler calls it, stock CapacityScheduler takes over, loudly, and the ResourceManager lives on. All
 * methods run under the scheduler's write lock but those that say otherwise.
 */
public final class Engine {
  /** So often in a row the core is made anew because its books differ; then that is a fault. */
  private static final int REBUILDS = 2;
  /** A step that lasts for so many budgets hangs. */
  private static final int HANGING_BUDGETS = 10;
  private static final long LOOK_MS = TimeUnit.SECONDS.toMillis(1);

  private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

  private final ClusterAccess cluster;
  private final CoreFeed feed;
  private final HiatusMetrics metrics;
  private final SnapshotReporter reporter;
  private final Demotions demotions;
  private final PreemptionMonitorGuard preemptionGuard;
  private final Admission admission;
  private final Supplier<FactWriter> recorders;
  private final Function<FactWriter, DecisionExecutor> executors;
  private final Watchdog watchdog = new Watchdog(System::nanoTime);
  private final Timeline timeline = new Timeline();
  private final Explainer explainer = new Explainer(Time::monotonicNow, this::explanation);
  private volatile HiatusConfiguration conf;
  /** Volatile as the facts are: threads of asynchronous scheduling ask who places. */
  private volatile Mode mode = Mode.OFF;
  /** What the core is told by, null where there is none. */
  private FactWriter facts;
  private Stepper stepper;
  private ConsistencyCheck books;
  private Answers told;
  private Recording recording = Recording.NONE;
  private long core;
  /** Volatile: pages tell it. */
  private volatile String fault;
  private boolean active;
  private int rebuilds;
  private long lastLookMs;
  private long lastBooksMs;

  /** {@code recorders} makes the recorder of facts of a core that begins, {@code appliers} what carries out its decisions. */
  public Engine(ClusterAccess cluster, CoreFeed feed, HiatusMetrics metrics, SnapshotReporter reporter, Demotions demotions,
      PreemptionMonitorGuard preemptionGuard, Supplier<FactWriter> recorders, Function<FactWriter, DecisionExecutor> executors) {
    this.cluster = cluster;
    this.feed = feed;
    this.metrics = metrics;
    this.reporter = reporter;
    this.demotions = demotions;
    this.preemptionGuard = preemptionGuard;
    this.admission = new Admission(cluster);
    this.recorders = recorders;
    this.executors = executors;
  }

  /** Whether placement is Hiatus's own; otherwise it is stock's. From any thread. */
  public boolean places() {
    return feed.facts() != null && mode != Mode.OBSERVE;
  }

  /** Why stock CapacityScheduler has taken over, or null. From any thread. */
  String fault() {
    return fault;
  }

  /** Puts a configuration in force that {@link #wrong} finds good. Also the way back from a fault. */
  public void configure(HiatusConfiguration next) {
    // A log is a core's whole life: to begin one is to begin another.
    boolean recordsAnew = next.recordDir() != null && (conf == null || !next.recordDir().equals(conf.recordDir()));
    conf = next;
    guarded(() -> { });
    fault = null;
    metrics.fallback.set(0);
    Mode before = mode;
    mode = next.mode();
    guarded(() -> {
      if (mode == Mode.OFF) {
        stop();
      } else if (core == 0 || recordsAnew) {
        stop();
        start();
      } else {
        Native.configure(core, next.coreProperties());
        keepHistory();
        recording.configured(next.recordedProperties());
        if (next.recordDir() == null) {
          recording.end();
        }
      }
      if (places()) {
        cluster.dropReservations();
      } else {
        admission.end();
      }
    });
    explainer.forget();
    LOG.info("Hiatus mode {} (was {})", mode, before);
  }

  /** That which is configured cannot be put in force, and nothing else is. */
  public void refuse(RuntimeException wrong) {
    guarded(() -> {
      throw new NativeException(wrong.getMessage().replace(HiatusConfiguration.KEPT, ""), wrong);
    });
  }

  /** The ResourceManager is the active one from now on. It makes its scheduler before, while another one has the history. */
  public void activate() {
    guarded(() -> {
      active = true;
      if (core != 0) {
        keepHistory();
      }
    });
  }

  /** What is wrong with a configuration, with key, value and range; null if nothing is. Changes nothing. */
  public static RuntimeException wrong(HiatusConfiguration next) {
    try {
      check(next);
      return null;
    } catch (RuntimeException e) {
      return e;
    }
  }

  private static void check(HiatusConfiguration next) {
    next.check();
    if (next.mode() != Mode.OFF) {
      try {
        NativeLibrary.load(next.extractDirs());
      } catch (NativeException e) {
        // Nobody can check without the library; that it is missing is told when it is needed.
        return;
      }
      Native.check(next.coreProperties());
    }
  }

  /**
   * A step now, of bounded length, unless it would find nothing.
   *
   * @return whether another one is worth while at once
   */
  public boolean step() {
    boolean[] more = new boolean[1];
    guarded(() -> {
      if (core != 0 && cluster.isReady() && !stepper.isQuiet()) {
        more[0] = stepper.step(mode == Mode.OBSERVE, conf.stepBudgetMs());
        if (stepper.takeAdmits() && mode != Mode.OBSERVE) {
          more[0] |= admit();
        }
      }
    });
    return more[0];
  }

  /** Has those let in that the core names; returns whether anybody was. */
  private boolean admit() {
    told.begin(Native.admissions(core, told.buffer()));
    boolean letIn = admission.apply(told, facts);
    if (letIn) {
      facts.activeChanged();
    }
    return letIn;
  }

  /**
   * A step if it is due, and a look at some nodes' books when it is time for it.
   *
   * @return whether another tick is worth while at once
   */
  public boolean tick() {
    boolean[] due = new boolean[1];
    guarded(() -> {
      long now = Time.monotonicNow();
      if (core != 0 && now - lastLookMs >= LOOK_MS) {
        lastLookMs = now;
        facts.activeChanged();
        if (stepper.isSettled()) {
          told.begin(Native.tally(core, told.buffer()));
          metrics.counted(told, facts.queues);
          timeline.add(Time.now(), metrics.queues.byPath());
        }
      }
      if (core != 0 && conf.historyDir() != null && stepper.isSettled()) {
        hearHistory();
      }
      due[0] = core != 0 && conf.placesBetweenHeartbeats() && (now - stepper.lastMs() >= LOOK_MS || stepper.isDue());
    });
    boolean more = due[0] && step();
    guarded(() -> {
      if (core != 0 && cluster.isReady() && stepper.isSettled()) {
        compareBooks();
        explainer.tick();
      }
    });
    return more;
  }

  /** Explains what it does at this moment, and why. */
  NamedExplanation explain() {
    NamedExplanation[] made = new NamedExplanation[1];
    watchdog.during(() -> made[0] = explainer.make());
    return made[0];
  }

  /** Explanations from a moment ago. */
  Explainer explainer() {
    return explainer;
  }

  /** The last minutes. From any thread. */
  Timeline timeline() {
    return timeline;
  }

  private NamedExplanation explanation() {
    String word = mode.name().toLowerCase(Locale.ROOT);
    return new NamedExplanation(core == 0 ? "{}" : Native.explain(core), facts,
        new TimeLeft(cluster.getRMContext())::tell, word, fault, preemptionGuard.state(places()), demotions.count());
  }

  /** The core's handle, for tests of what happens when it breaks. */
  long core() {
    return core;
  }

  /** Waits until the last recording is written, but no longer than that. Without the lock. */
  public void awaitRecording(long patienceMs) throws InterruptedException {
    recording.join(patienceMs);
  }

  /** Ends the core. */
  public void stop() {
    recording.end();
    admission.end();
    long ended = core;
    core = 0;
    facts = null;
    feed.listen(null);
    stepper = null;
    books = null;
    told = null;
    if (ended != 0) {
      metrics.ended();
      Native.destroy(ended);
    }
  }

  private void start() {
    HadoopVersion.require(cluster.hadoopVersion()).ifPresent(LOG::warn);
    NativeLibrary.load(conf.extractDirs());
    core = Native.create(conf.coreProperties());
    recording = Recording.begin(conf);
    recording.configured(conf.recordedProperties());
    FactWriter fresh = recorders.get();
    stepper = new Stepper(reporter, core, fresh, executors.apply(fresh), metrics, recording);
    books = new ConsistencyCheck(cluster, demotions, fresh, core);
    told = new Answers(core);
    facts = fresh;
    feed.listen(fresh);
    stepper.listen();
    keepHistory();
    reporter.everything(fresh);
  }

  private void keepHistory() {
    Path dir = active ? conf.historyDir() : null;
    Native.keepHistory(core, dir == null ? null : dir.toString(), conf.historyMaxRuns());
  }

  /** What history has to tell of applications that came, for the next step. */
  private void hearHistory() {
    told.begin(Native.known(core, told.buffer()));
    while (told.hasNext()) {
      int at = told.next();
      facts.known(told.buffer(), at);
    }
  }

  private void compareBooks() {
    if (books.isRoundOver()) {
      long now = Time.monotonicNow();
      if (now - lastBooksMs < conf.booksIntervalMs()) {
        return;
      }
      lastBooksMs = now;
      books.begin();
    }
    books.look();
    if (books.isRoundOver()) {
      judgeBooks();
    }
  }

  private void judgeBooks() {
    if (books.suspects().isEmpty()) {
      rebuilds = 0;
    } else if (books.staying().isEmpty()) {
      LOG.info("The core's books may differ from the ResourceManager's, and are looked at again: {}",
          ConsistencyCheck.first(books.suspects()));
    } else {
      metrics.booksDiffer.incr();
      String differences = ConsistencyCheck.first(books.staying());
      if (rebuilds >= REBUILDS) {
        rebuilds = 0;
        throw new NativeException("the core's books differ from the ResourceManager's: " + differences);
      }
      rebuilds++;
      LOG.warn("The core's books differ from the ResourceManager's; it is made anew ({} in a row): {}", rebuilds,
          differences);
      // As after a restart; only estimates are lost.
      metrics.rebuilt.incr();
      stop();
      start();
    }
  }

  /** Notices steps that hang. Its own thread looks, without the lock. */
  public void watch() {
    watchdog.look(HANGING_BUDGETS * conf.stepBudgetMs());
  }

  /** Runs our own work with the write lock held and nothing but that: if it fails stock takes over at once, and the watchdog looks on. */
  private void guarded(Runnable work) {
    watchdog.during(() -> {
      if (feed.failure() == null) {
        feed.guard(work);
      }
      if (feed.failure() != null) {
        feed.guard(() -> giveUp(feed.failure()));
        // Whatever went wrong in that, too.
        feed.guard(this::stop);
        feed.clearFailure();
      }
    });
  }

  private void giveUp(Throwable cause) {
    feed.listen(null);
    fault = cause instanceof NativeException ? cause.getMessage() : cause.toString();
    metrics.fallback.set(1);
    LOG.error("HIATUS IS OFF: {}. Stock CapacityScheduler has taken over; jobs go on. After mending the cause, "
        + "`yarn rmadmin -refreshQueues` starts Hiatus again.", fault, cause instanceof HadoopVersion.Unknown ? null : cause);
    explainer.forget();
  }
}
