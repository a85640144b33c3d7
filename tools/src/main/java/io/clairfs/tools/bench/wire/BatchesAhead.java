package io.clairfs.tools.bench.wire;

import java.util.BitSet;

/** Bounds how far readers of batches may be apart, as a loader that hands out its batches in order does. Thread-safe. */
final class BatchesAhead {
    private final int most;
    private final BitSet ended = new BitSet();

    /** At most this many batches are in flight, counted from the first that has not ended. */
    BatchesAhead(int most) {
        this.most = most;
    }

    /** Waits until this batch may be read. */
    synchronized void begin(int batch) throws InterruptedException {
        while (batch >= ended.nextClearBit(0) + most) {
            wait();
        }
    }

    /** The batch was read. */
    synchronized void end(int batch) {
        ended.set(batch);
        notifyAll();
    }
}
