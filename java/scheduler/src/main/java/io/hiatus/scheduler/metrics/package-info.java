/**
 * What is counted, for Hadoop's metrics and for the page.
 *
 * <p>May use: bridge.
 */
package io.hiatus.scheduler.metrics;
