/**
 * The command {@code yarn hiatus}: tables of what the web interface answers, and the check of a configuration.
 *
 * <p>May use: bridge, config, hadoop.
 */
package io.hiatus.scheduler.cli;
