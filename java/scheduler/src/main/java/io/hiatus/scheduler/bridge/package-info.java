/**
 * The native library: loading it, calling it, and the buffers and numbers that cross to it. The one package with
 * native methods.
 *
 * <p>May use: config.
 */
package io.hiatus.scheduler.bridge;
