package io.hiatus.nodemanager;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;

/** A container executor that suspends, as its launcher sees it. */
interface SuspendingExecutor {
    /** The containers of this executor; there from {@code init} on. */
    Suspension suspension();

    /** Holds a container or lets it go: see {@link Suspension#hold}. */
    boolean hold(Container container, BooleanSupplier wanted) throws IOException;
}
