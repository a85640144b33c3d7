package io.clairfs.peer.transfer.server;

import java.util.concurrent.atomic.LongAdder;

/** Totals of this node's server since it started. */
public final class ServeCounters {
    /** Requests received. */
    public final LongAdder requests = new LongAdder();

    /** Frames in which they came. */
    public final LongAdder requestFrames = new LongAdder();

    /** Samples given to the network. */
    public final LongAdder served = new LongAdder();

    public final LongAdder servedBytes = new LongAdder();

    /** Of the samples served, those sent from a file without a copy through this process. */
    public final LongAdder sentFromFile = new LongAdder();

    public final LongAdder notHere = new LongAdder();

    /** Requests answered with a failure, or that expired or were cancelled before their turn. */
    public final LongAdder failed = new LongAdder();

    /** Samples that peers received with a wrong checksum. */
    public final LongAdder damaged = new LongAdder();

    /** Connections whose handshake succeeded. */
    public final LongAdder connections = new LongAdder();

    /** Connections that were refused: too many, another secret, version or dataset, or no handshake in time. */
    public final LongAdder refused = new LongAdder();

    /** Connections closed because of invalid input. */
    public final LongAdder garbage = new LongAdder();

    /** Connections closed because the other side took nothing for too long. */
    public final LongAdder stalled = new LongAdder();
}
