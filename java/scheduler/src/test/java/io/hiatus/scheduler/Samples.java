package io.hiatus.scheduler;

import java.util.Arrays;

/** Samples of one quantity of a benchmark, in whatever unit they come. */
final class Samples {
  private long[] values = new long[1 << 12];
  private int count;

  void add(long value) {
    if (count == values.length) {
      values = Arrays.copyOf(values, 2 * count);
    }
    values[count++] = value;
  }

  int count() {
    return count;
  }

  /** The sample that was added as number {@code index}, from 0. */
  long get(int index) {
    return values[index];
  }

  double sum() {
    return Arrays.stream(values, 0, count).asDoubleStream().sum();
  }

  double mean() {
    return sum() / count;
  }

  /** The largest, 0 if there is none. */
  long max() {
    return Arrays.stream(values, 0, count).max().orElse(0);
  }

  /** The sample below which a part {@code q} of them lies, from 0 to 1; NaN if there is none. */
  double quantile(double q) {
    long[] sorted = Arrays.copyOf(values, count);
    Arrays.sort(sorted);
    return count == 0 ? Double.NaN : sorted[(int) Math.min(count - 1, q * count)];
  }
}
