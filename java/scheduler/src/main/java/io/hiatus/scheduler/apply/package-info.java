/**
 * From the core to YARN: its decisions carried out with CapacityScheduler's own means, or refused.
 *
 * <p>May use: bridge, cluster, config, facts, hadoop, metrics, state.
 */
package io.hiatus.scheduler.apply;
