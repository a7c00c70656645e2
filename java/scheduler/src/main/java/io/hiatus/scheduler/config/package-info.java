/**
 * What stands in Hadoop's configuration: the properties of Hiatus, and those of CapacityScheduler that mean something
 * to it.
 *
 * <p>May use: none of the other packages.
 */
package io.hiatus.scheduler.config;
