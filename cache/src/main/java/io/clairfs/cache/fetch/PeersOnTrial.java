package io.clairfs.cache.fetch;

import java.util.concurrent.Semaphore;

/**
 * Peers that were found too slow are still asked, by one fetch at a time, until some in a row were quick: what is known of them would otherwise
 * stay as it is, for nobody would ask again. A moment in which a node was busy, as when all of a group begin at once, must not send a
 * whole epoch to the source.
 */
final class PeersOnTrial {
    private static final int QUICK_IN_A_ROW = 3;

    private final Semaphore one = new Semaphore(1);
    private int quick;

    /** Whether the caller is the one; it then says how it went. */
    boolean begin() {
        return one.tryAcquire();
    }

    /** Returns whether the peers are as good as any again. */
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
