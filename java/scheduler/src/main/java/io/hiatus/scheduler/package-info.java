/**
 * The scheduler that users configure, the command that they call, and what wires the parts of Hiatus together. What may use
 * which of the packages below is said in each one's own {@code package-info.java}; PackagesTest keeps it.
 *
 * <p>May use: all of the other packages. None of them uses this one.
 */
package io.hiatus.scheduler;
