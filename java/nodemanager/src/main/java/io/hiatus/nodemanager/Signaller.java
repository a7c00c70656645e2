package io.hiatus.nodemanager;

import java.io.IOException;
import java.util.Set;

/** Sends job-control signals to process groups, by whoever is allowed to. */
interface Signaller {
    /** The signals of job control, with Linux's numbers for x86 and Arm. */
    enum JobSignal {
        CONT(18), STOP(19), TSTP(20);

        final int number;

        JobSignal(int number) {
            this.number = number;
        }
    }

    /**
     * Sends a signal to each group; a group that has ended meanwhile is passed over.
     *
     * @throws IOException when signals cannot be sent at all
     */
    void send(JobSignal signal, Set<Integer> groups) throws IOException;

    /** The same as a command for a shell. */
    String command(JobSignal signal, Set<Integer> groups);
}
