package io.hiatus.scheduler.engine;

import io.hiatus.scheduler.MockCluster;

/** What tests elsewhere see of a cluster's engine. */
public final class EngineOf {
  private EngineOf() {
  }

  /** The core's handle. */
  public static long core(MockCluster cluster) {
    return cluster.engine().core();
  }

  /** What the core's books and the ResourceManager's say differently now, or null. Under the scheduler's write lock. */
  public static String difference(MockCluster cluster) {
    ConsistencyCheck books = new ConsistencyCheck(cluster.scheduler(), cluster.scheduler().demotions(), cluster.facts(), cluster.engine().core());
    books.begin();
    while (!books.isRoundOver()) {
      books.look();
    }
    return books.suspects().isEmpty() ? null : ConsistencyCheck.first(books.suspects());
  }
}
