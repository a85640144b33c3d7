package io.clairfs.cache.fetch;

import java.util.concurrent.Semaphore;

/**
 * Gives peers that were found too slow one fetch at a time, until some in a row were quick: without any, what is known of them would never
 * change. A moment in which a node was busy, as when all nodes of a group begin at once, must not send a whole epoch to the source.
 */
final class PeersOnTrial {
    private static final int QUICK_IN_A_ROW = 3;

    private final Semaphore one = new Semaphore(1);
    private int quick;

    /** Whether the caller makes the one fetch; it then calls {@link #end}. */
    boolean begin() {
        return one.tryAcquire();
    }

    /** Returns whether the peers have passed the trial. */
    boolean end(boolean wasQuick) {
        quick = wasQuick ? quick + 1 : 0;
        boolean passed = quick >= QUICK_IN_A_ROW;
        if (passed) {
            quick = 0;
        }
        one.release();
        return passed;
    }
}
