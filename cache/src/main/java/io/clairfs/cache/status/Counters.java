package io.clairfs.cache.status;

import java.util.concurrent.atomic.LongAdder;

/** What happened since the mount, as sums. Units are in the names. */
public final class Counters {
    /** Files closed by readers, as the kernel reported them. */
    public final LongAdder opened = new LongAdder();

    /** Of those, the ones with at least one read request to the daemon. */
    public final LongAdder openedWithUpcall = new LongAdder();

    /** Of those, the ones that were closed since. */
    public final LongAdder closedAfterUpcall = new LongAdder();

    /** Single read requests that the kernel sent to the daemon. */
    public final LongAdder readRequests = new LongAdder();

    /** Bytes given in answer to read requests. */
    public final LongAdder readRequestBytes = new LongAdder();

    /** Read requests answered with an error. */
    public final LongAdder readErrors = new LongAdder();

    /** Time that read requests waited for their samples, nanoseconds; {@link #readWait} has the single ones. */
    public final LongAdder stalledNs = new LongAdder();

    /** Waits of read requests for their samples; reads of samples in memory do not wait. */
    public final Latency readWait = new Latency();

    /** Fetches of samples from the source, from the request to the last byte, the wait for their turn included. */
    public final Latency fromSourceTook = new Latency();

    /** Fetches of samples from peers. */
    public final Latency fromPeerTook = new Latency();

    /** Pushes of samples into the page cache. */
    public final Latency pushTook = new Latency();

    /** Where samples came from, for pushes, for tiers and for read requests. */
    public final Traffic fromMemory = new Traffic();

    public final Traffic fromSsd = new Traffic();
    public final Traffic fromPeer = new Traffic();
    public final Traffic fromSource = new Traffic();

    /** Fetches from the source of samples that a peer should have had: it was slower than the source, late, or left alone. */
    public final LongAdder peersPassedOver = new LongAdder();

    /** Fetches from the source of samples that a slower tier of this node holds: it was slower than the source. */
    public final LongAdder ssdPassedOver = new LongAdder();

    /** Samples that peers made of the source's files for this node. */
    public final LongAdder madeElsewhere = new LongAdder();

    /** Samples that this node made for peers that asked it to. */
    public final LongAdder madeForPeers = new LongAdder();

    /** Requests to make a sample that a peer refused, or did not answer in time. */
    public final LongAdder makersFailed = new LongAdder();

    /** Samples pushed into the page cache. */
    public final LongAdder staged = new LongAdder();

    /** Staged samples of which pages were gone before their trainer came. */
    public final LongAdder stagedLost = new LongAdder();

    /** Times that the kernel could not report everything that was read. */
    public final LongAdder eventsLost = new LongAdder();
}
