/**
 * How far the tasks of MapReduce jobs are: asked of their ApplicationMasters, or reported by them.
 *
 * <p>May use: config, facts, metrics.
 */
package io.hiatus.scheduler.progress;
