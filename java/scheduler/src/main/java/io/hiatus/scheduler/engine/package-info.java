/**
 * Runs the core, step by step, and watches over it; where it fails, stock CapacityScheduler takes over.
 *
 * <p>May use: apply, bridge, cluster, config, explain, facts, hadoop, metrics, recording, state.
 */
package io.hiatus.scheduler.engine;
