package io.hiatus.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.hiatus.scheduler.HiatusConfiguration.Mode;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the core: facts in, answers applied, until it has nothing more to say. Watches over it: whatever is wrong with
 * the library, its time or its books, stock CapacityScheduler takes over, loudly, and the ResourceManager lives on.
 * All methods run under the scheduler's write lock.
 */
final class Engine {
  /** Answers lead to facts, and those to more answers; what is not settled by then waits for the next step. */
  private static final int ROUNDS = 16;
  /** So many steps in a row over budget are a fault; one alone may be a pause of the JVM. */
  private static final int SLOW_STEPS = 5;
  /** So many comparisons in a row with a difference, after the core was made anew, are a fault. */
  private static final int BAD_BOOKS = 3;

  private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

  private final HiatusScheduler scheduler;
  private final HiatusMetrics metrics;
  private final ByteBuffer answers = FactBuffer.fresh(1 << 16);
  private HiatusConfiguration conf;
  private Mode mode = Mode.OFF;
  /** Volatile: who only tells what happens does so from any thread. */
  private volatile Facts facts;
  private Applier applier;
  private Books books;
  private long core;
  private String fault;
  private int slowSteps;
  private int badBooks;
  private long lastStepMs;
  private long lastBooksMs;

  Engine(HiatusScheduler scheduler, HiatusMetrics metrics) {
    this.scheduler = scheduler;
    this.metrics = metrics;
  }

  /** The recorder of facts, or null while nobody listens. */
  Facts facts() {
    return facts;
  }

  /** Whether placement is Hiatus's own; otherwise it is stock's. */
  boolean places() {
    return facts != null && mode != Mode.OBSERVE;
  }

  /** Why stock CapacityScheduler has taken over, or null. */
  String fault() {
    return fault;
  }

  /** Puts a configuration in force that {@link #check} found good. Also the way back from a fault. */
  void configure(HiatusConfiguration next) {
    conf = next;
    fault = null;
    metrics.fallback.set(0);
    Mode before = mode;
    mode = next.mode();
    if (mode == Mode.OFF) {
      handOver();
      stop();
    } else if (core == 0) {
      start();
    } else {
      guarded(() -> Native.configure(core, next.coreProperties()));
    }
    if (places()) {
      scheduler.dropReservations();
    } else {
      handOver();
    }
    LOG.info("Hiatus mode {} (was {})", mode, before);
  }

  /**
   * Refuses a configuration without changing anything.
   *
   * @throws RuntimeException with key, value and range
   */
  static void check(HiatusConfiguration next) {
    next.check();
    if (next.mode() != Mode.OFF) {
      try {
        NativeLibrary.load(next.extractDir());
      } catch (NativeException e) {
        // Nobody can check without the library; that it is missing is told when it is needed.
        return;
      }
      Native.check(next.coreProperties());
    }
  }

  /** A step now. */
  void step() {
    if (core == 0 || !scheduler.isReady()) {
      return;
    }
    guarded(() -> {
      for (int round = 0; round < ROUNDS; round++) {
        if (!round(round)) {
          break;
        }
      }
    });
    if (facts != null) {
      metrics.suspendedNow.set(facts.suspended().size());
    }
  }

  /** A step if there is news or the last one is long ago, and a look into the books when it is time for it. */
  void tick() {
    if (core == 0) {
      return;
    }
    long now = Time.monotonicNow();
    if (now - lastStepMs >= TimeUnit.SECONDS.toMillis(1)) {
      scheduler.teller().active(facts);
      step();
    } else if (!facts.isEmpty()) {
      step();
    }
    if (core != 0 && now - lastBooksMs >= conf.booksIntervalMs()) {
      lastBooksMs = now;
      guarded(this::compareBooks);
    }
  }

  /** Why everything is as it is, as JSON. */
  String explain() throws JsonProcessingException {
    String word = mode.name().toLowerCase(Locale.ROOT);
    return Explanation.of(core == 0 ? "{}" : Native.explain(core), facts, word, fault);
  }

  /** The core's handle, for tests of what happens when it breaks. */
  long core() {
    return core;
  }

  /** Ends the core. */
  void stop() {
    if (core != 0) {
      Native.destroy(core);
      core = 0;
      facts = null;
      applier = null;
      metrics.suspendedNow.set(0);
    }
  }

  private void start() {
    guarded(() -> {
      NativeLibrary.load(conf.extractDir());
      core = Native.create(conf.coreProperties());
      facts = new Facts(scheduler.countsMemoryOnly());
      applier = new Applier(scheduler, facts, metrics);
      books = new Books(scheduler, facts);
      scheduler.teller().everything(facts);
    });
  }

  private boolean round(int round) {
    long begun = System.nanoTime();
    facts.collectAsks(scheduler::attempt);
    FactBuffer news = facts.take();
    if (round > 0 && news.length() == 0) {
      return false;
    }
    lastStepMs = Time.monotonicNow();
    long called = System.nanoTime();
    int length = Native.step(core, Time.monotonicNow(), news.bytes(), news.length(), answers);
    long returned = System.nanoTime();
    boolean any = length > 0;
    while (length > 0) {
      for (int at = 0; at < length; at += answers.getInt(at + 4)) {
        applier.apply(answers, at, mode == Mode.OBSERVE);
      }
      length = Native.rest(core, answers);
    }
    long ended = System.nanoTime();
    metrics.stepped(called - begun, returned - called, ended - returned, news.length());
    watchBudget(TimeUnit.NANOSECONDS.toMillis(returned - called));
    return any;
  }

  private void watchBudget(long tookMs) {
    if (tookMs <= conf.stepBudgetMs()) {
      slowSteps = 0;
    } else if (++slowSteps >= SLOW_STEPS) {
      slowSteps = 0;
      throw new NativeException(SLOW_STEPS + " steps in a row took over " + conf.stepBudgetMs() + " ms, the last one "
          + tookMs);
    }
  }

  private void compareBooks() {
    String difference = books.difference(core, answers);
    if (difference == null) {
      badBooks = 0;
      return;
    }
    metrics.booksDiffer.incr();
    badBooks++;
    LOG.warn("The core's books differ from the ResourceManager's ({} in a row): {}", badBooks, difference);
    if (badBooks > BAD_BOOKS) {
      badBooks = 0;
      throw new NativeException("the core's books differ from the ResourceManager's: " + difference);
    }
    if (badBooks > 1) {
      rebuild();
    }
  }

  /** Makes the core anew from the ResourceManager's books, as after a restart; only estimates are lost. */
  private void rebuild() {
    metrics.rebuilt.incr();
    stop();
    start();
  }

  /** Stock promotes what is suspended, like any ask of the applications, as room appears. */
  private void handOver() {
    if (facts == null) {
      return;
    }
    for (ContainerId id : facts.suspended()) {
      RMContainer container = scheduler.getRMContainer(id);
      FiCaSchedulerApp attempt = scheduler.getCurrentAttemptForContainer(id);
      if (container != null && attempt != null) {
        applier.askForPromotion(attempt, container);
      }
    }
  }

  private void guarded(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | LinkageError e) {
      fault = String.valueOf(e.getMessage());
      metrics.fallback.set(1);
      LOG.error("HIATUS IS OFF: {}. Stock CapacityScheduler has taken over; jobs go on. After mending the cause, "
          + "`yarn rmadmin -refreshQueues` starts Hiatus again.", fault, e);
      handOver();
      stop();
    }
  }
}
