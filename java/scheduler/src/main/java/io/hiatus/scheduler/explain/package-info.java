/**
 * What Hiatus did and why: the core's explanation, in YARN's names.
 *
 * <p>May use: bridge, facts.
 */
package io.hiatus.scheduler.explain;
