/**
 * Logs of all that the core was told and answered, for {@code hiatus replay}.
 *
 * <p>May use: bridge, config.
 */
package io.hiatus.scheduler.recording;
