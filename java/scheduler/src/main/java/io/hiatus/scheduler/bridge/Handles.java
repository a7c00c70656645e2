package io.hiatus.scheduler.bridge;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Small numbers that stand for things on the other side of the boundary. A number is never used twice. */
public final class Handles<T> {
  private final Map<T, Integer> numbers = new ConcurrentHashMap<>();
  private final Map<Integer, T> things = new ConcurrentHashMap<>();
  private final AtomicInteger next;

  /** The first thing gets the number {@code first}. */
  public Handles(int first) {
    next = new AtomicInteger(first);
  }

  /** The thing's number, a new one if it has none. */
  public int intern(T thing) {
    return numbers.computeIfAbsent(thing, t -> {
      int number = next.getAndIncrement();
      things.put(number, t);
      return number;
    });
  }

  /** The thing's number, or null if it has none. */
  public Integer of(T thing) {
    return numbers.get(thing);
  }

  /** The thing of that number, or null if it is gone. */
  public T thing(int number) {
    return things.get(number);
  }

  /** Forgets the thing; returns its number, or null if it had none. */
  public Integer remove(T thing) {
    Integer number = numbers.remove(thing);
    if (number != null) {
      things.remove(number);
    }
    return number;
  }

  public Iterable<Map.Entry<T, Integer>> all() {
    return numbers.entrySet();
  }
}
