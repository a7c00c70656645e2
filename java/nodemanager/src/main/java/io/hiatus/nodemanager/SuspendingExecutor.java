package io.hiatus.nodemanager;

/** A container executor that suspends, as its launcher sees it. */
interface SuspendingExecutor {
    /** The containers of this executor; there from {@code init} on. */
    Suspension suspension();
}
