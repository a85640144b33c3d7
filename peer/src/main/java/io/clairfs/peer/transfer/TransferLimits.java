package io.clairfs.peer.transfer;

/**
 * The bounds of everything that a peer could make grow.
 *
 * @param largestSampleBytes that is ever transferred
 */
public record TransferLimits(Times times, Windows windows, Counts counts, long largestSampleBytes) {
    /** For nodes of one machine room. */
    public static final TransferLimits DEFAULT = new TransferLimits(
            new Times(3_000, 3_000, 2_000, 600, 10_000, 200, 60_000),
            new Windows(512 << 10, 1 << 20, 64 << 20, 1 << 20, 256 << 20),
            new Counts(512, 4096, 1024, 64, 1024, 16),
            1L << 30);

    public TransferLimits {
        if (largestSampleBytes > Integer.MAX_VALUE - 64) {
            throw new IllegalArgumentException("one sample must fit into one buffer of 2 GiB");
        }
    }

    /**
     * Timeouts, milliseconds.
     *
     * @param connectMs for a connection to be made
     * @param handshakeMs for both sides to have proved themselves
     * @param silenceMs how long a peer may owe an answer beyond its deadline without sending a byte, before it is left alone
     * @param pongMs how long a peer that has gone silent on one of several rails may take to answer a ping there
     * @param stallMs how long a reader may take no byte that is sent to it, before it is disconnected
     * @param backOffLeastMs how long a peer is left alone after its first failure
     * @param backOffMostMs the same after many
     */
    public record Times(
            int connectMs,
            int handshakeMs,
            int silenceMs,
            int pongMs,
            int stallMs,
            int backOffLeastMs,
            int backOffMostMs) {}

    /**
     * How much may be under way, bytes.
     *
     * @param leastBytes in flight from one peer, however little was measured
     * @param startBytes in flight from one peer before anything was measured
     * @param mostBytes in flight from one peer, however much was measured; also what a server may promise one connection of samples that it brings, and
     *     as much of samples that it makes; a sample more at most
     * @param unsentBytes of answers that wait in one connection's send queue; a sample more at most
     * @param allPeersBytes in flight from all peers together, divided among those that are asked now; each has the least
     *     window in any case
     */
    public record Windows(long leastBytes, long startBytes, long mostBytes, int unsentBytes, long allPeersBytes) {
        public Windows {
            if (leastBytes <= 0 || startBytes < leastBytes || mostBytes < startBytes) {
                throw new IllegalArgumentException("windows must be 0 < least <= start <= most");
            }
        }

        /** The same with another bound on unsent answers, bytes. */
        public Windows withUnsent(int bytes) {
            return new Windows(leastBytes, startBytes, mostBytes, bytes, allPeersBytes);
        }
    }

    /**
     * How many there may be.
     *
     * @param requestsInFlight on one connection
     * @param requestsPerPeer in flight or waiting
     * @param connections that the server accepts for each rail, handshake done; a peer has one for each
     * @param handshakes that the server has under way; the oldest goes for one more
     * @param peers that the client knows
     * @param expiriesInARow after which a peer counts as too slow and is left alone
     */
    public record Counts(
            int requestsInFlight, int requestsPerPeer, int connections, int handshakes, int peers, int expiriesInARow) {
        public Counts {
            if (requestsInFlight < 1
                    || requestsInFlight > Frames.MOST_REQUESTS_IN_FLIGHT
                    || requestsPerPeer < requestsInFlight) {
                throw new IllegalArgumentException("requests must be 1 <= in flight <= "
                        + Frames.MOST_REQUESTS_IN_FLIGHT + ", in flight <= per peer");
            }
            if (handshakes < 1) {
                throw new IllegalArgumentException("there must be room for a handshake");
            }
        }
    }

    /** The same with other times, milliseconds. */
    public TransferLimits withTimes(
            int connectMs, int handshakeMs, int silenceMs, int stallMs, int backOffLeastMs, int backOffMostMs) {
        Times other =
                new Times(connectMs, handshakeMs, silenceMs, times.pongMs, stallMs, backOffLeastMs, backOffMostMs);
        return new TransferLimits(other, windows, counts, largestSampleBytes);
    }

    /** The same with another time for the answer to a ping, milliseconds. */
    public TransferLimits withPong(int ms) {
        Times other = new Times(
                times.connectMs,
                times.handshakeMs,
                times.silenceMs,
                ms,
                times.stallMs,
                times.backOffLeastMs,
                times.backOffMostMs);
        return new TransferLimits(other, windows, counts, largestSampleBytes);
    }

    /** The same with other windows, bytes. */
    public TransferLimits withWindows(long leastBytes, long startBytes, long mostBytes, long allPeersBytes) {
        Windows other = new Windows(leastBytes, startBytes, mostBytes, windows.unsentBytes, allPeersBytes);
        return new TransferLimits(times, other, counts, largestSampleBytes);
    }

    /** The same with another bound on bytes in flight from all peers together; from one peer no more than that, or its least window. */
    public TransferLimits withAllPeers(long bytes) {
        long most = Math.clamp(bytes, windows.startBytes, windows.mostBytes);
        return withWindows(windows.leastBytes, windows.startBytes, most, bytes);
    }

    /** The same with other numbers of requests and connections. */
    public TransferLimits withCounts(int requestsInFlight, int requestsPerPeer, int connections, int handshakes) {
        Counts other = new Counts(
                requestsInFlight, requestsPerPeer, connections, handshakes, counts.peers, counts.expiriesInARow);
        return new TransferLimits(times, windows, other, largestSampleBytes);
    }

    /** The same with another bound on unsent answers, bytes. */
    public TransferLimits withUnsent(int bytes) {
        return new TransferLimits(times, windows.withUnsent(bytes), counts, largestSampleBytes);
    }
}
