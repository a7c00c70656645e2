package io.hiatus.simulated;

/** The time of a run. */
interface Clock {
  /** Milliseconds since some moment; it never goes back. */
  long now();
}
