package io.clairfs.peer.transfer.client;

import java.util.concurrent.atomic.LongAdder;

/** Totals of this node's client since it started. Every request ends in exactly one of got, notHere and failed. */
public final class FetchCounters {
    /** Requests made by the callers. */
    public final LongAdder requests = new LongAdder();

    /** Frames in which they went out. */
    public final LongAdder requestFrames = new LongAdder();

    /** Samples received and verified. */
    public final LongAdder got = new LongAdder();

    public final LongAdder gotBytes = new LongAdder();
    public final LongAdder notHere = new LongAdder();

    /** Requests that failed for any reason, those given up by their callers among them. */
    public final LongAdder failed = new LongAdder();

    /** Of those, the ones that were not answered by their deadline. */
    public final LongAdder expired = new LongAdder();

    /** Bytes of samples that arrived after their requests were given up. */
    public final LongAdder lateBytes = new LongAdder();

    /** Samples received with a wrong checksum. */
    public final LongAdder checksumFailures = new LongAdder();

    /** Connections closed because of invalid input, such as several checksum failures in a row. */
    public final LongAdder garbage = new LongAdder();

    /** Connections that were ready for requests. */
    public final LongAdder connections = new LongAdder();

    /** Requests that were sent again by another rail, because the one that had them was lost. */
    public final LongAdder moved = new LongAdder();

    /** Times that a peer, by one rail, was left alone for a while. */
    public final LongAdder leftAlone = new LongAdder();
}
