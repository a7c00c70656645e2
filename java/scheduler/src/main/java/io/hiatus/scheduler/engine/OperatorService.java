package io.hiatus.scheduler.engine;

import io.hiatus.scheduler.cluster.ClusterView;
import io.hiatus.scheduler.explain.NamedExplanation;
import io.hiatus.scheduler.facts.CoreFeed;
import io.hiatus.scheduler.facts.FactWriter;
import io.hiatus.scheduler.metrics.Timeline;
import io.hiatus.scheduler.state.Parking;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;

/** What people do with Hiatus through the ResourceManager's web interface: they look at it, and park by hand. From any thread. */
public final class OperatorService {
  /** A scheduler that has them. */
  public interface Provider {
    OperatorService operatorService();
  }

  private final ClusterView cluster;
  private final CoreFeed feed;
  private final Engine engine;
  private final Parking parking;
  private final Lock lock;
  private final Object explaining = new Object();

  /** {@code lock} is the scheduler's write lock. */
  public OperatorService(ClusterView cluster, CoreFeed feed, Engine engine, Parking parking, Lock lock) {
    this.cluster = cluster;
    this.feed = feed;
    this.engine = engine;
    this.parking = parking;
    this.lock = lock;
  }

  /**
   * Puts an application aside, all of it but its master, or takes up again what is not parked by itself.
   *
   * @return false if Hiatus is off
   * @throws IllegalArgumentException if it does not run
   * @throws java.io.UncheckedIOException if the state store does not keep it; nothing has changed then
   */
  public boolean park(ApplicationId id, boolean parked) {
    return withCore(facts -> {
      if (parking.park(id, parked)) {
        facts.appParked(id, parked);
        holdSuspended(id, facts);
      }
    });
  }

  /** The same for one container. */
  public boolean park(ContainerId id, boolean parked) {
    return withCore(facts -> {
      if (parking.park(id, parked)) {
        facts.containerParked(id, parked);
        holdSuspended(id.getApplicationAttemptId().getApplicationId(), facts);
      }
    });
  }

  /** A suspended container runs on until its room is needed; a parked one must not. */
  private void holdSuspended(ApplicationId app, FactWriter facts) {
    facts.suspended().stream().filter(id -> id.getApplicationAttemptId().getApplicationId().equals(app))
        .map(cluster::getRMContainer).filter(Objects::nonNull).forEach(parking::holdIfParked);
  }

  private boolean withCore(Consumer<FactWriter> work) {
    boolean there;
    lock.lock();
    try {
      FactWriter facts = feed.facts();
      there = facts != null;
      if (there) {
        work.accept(facts);
      }
    } finally {
      lock.unlock();
    }
    engine.explainer().forget();
    return there;
  }

  /** What Hiatus does and why, now or a moment ago: mostly without the scheduler's lock. */
  public NamedExplanation explained() {
    NamedExplanation latest = engine.explainer().latest();
    if (latest == null) {
      // Of many who ask at once one takes the scheduler's lock.
      synchronized (explaining) {
        latest = engine.explainer().latest();
        return latest == null ? explainNow() : latest;
      }
    }
    return latest;
  }

  /** What it does and why at this moment. */
  public NamedExplanation explainNow() {
    lock.lock();
    try {
      return engine.explain();
    } finally {
      lock.unlock();
    }
  }

  /** What ran, stood still and was changed in the last minutes. */
  public Timeline timeline() {
    return engine.timeline();
  }

  /** Why stock CapacityScheduler has taken over, or null. */
  public String fault() {
    return engine.fault();
  }

  /** The container, or null. */
  public RMContainer container(ContainerId id) {
    return cluster.getRMContainer(id);
  }
}
