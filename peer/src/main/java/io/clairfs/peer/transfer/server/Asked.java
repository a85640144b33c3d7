package io.clairfs.peer.transfer.server;

/** A request that has no answer yet. */
final class Asked {
    final int id;
    final int sample;
    final long bytes;
    final long deadlineNs;
    final boolean toMake;

    /** The bytes that it counts for in its {@link RequestQueue}. */
    long promised;

    Asked(int id, int sample, long bytes, long deadlineNs, boolean toMake) {
        this.id = id;
        this.sample = sample;
        this.bytes = bytes;
        this.deadlineNs = deadlineNs;
        this.toMake = toMake;
    }
}
