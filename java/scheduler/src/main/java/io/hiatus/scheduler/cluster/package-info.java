/**
 * What Hiatus looks up and changes in CapacityScheduler, as an interface that the scheduler itself implements.
 *
 * <p>May use: none of the other packages.
 */
package io.hiatus.scheduler.cluster;
