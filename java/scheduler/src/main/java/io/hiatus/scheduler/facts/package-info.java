/**
 * From YARN to the core: how queues, nodes, applications and containers are, and what happens to them, as records.
 *
 * <p>May use: bridge, cluster, config, hadoop, state.
 */
package io.hiatus.scheduler.facts;
