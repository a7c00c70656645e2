/**
 * What depends on the version of Hadoop: which ones are known, and what they have under different names.
 *
 * <p>May use: bridge, config.
 */
package io.hiatus.scheduler.hadoop;
