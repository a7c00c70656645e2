/**
 * Which containers Hiatus demoted, and what was parked by hand: it outlives the core, and a restart, among the
 * applications' properties.
 *
 * <p>May use: cluster, metrics.
 */
package io.hiatus.scheduler.state;
