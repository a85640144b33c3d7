package io.clairfs.peer.transfer;

/**
 * The bounds of everything that a peer could make grow.
 *
 * @param connectTimeoutMs for a connection to be made
 * @param handshakeTimeoutMs for both sides to have proved themselves
 * @param silenceMs how long a peer may owe an answer beyond its deadline without sending a byte, before it is left alone
 * @param stallMs how long a reader may take nothing of what is sent to it, before it is disconnected
 * @param windowLeastBytes in flight from one peer, however little was measured
 * @param windowStartBytes in flight from one peer before anything was measured
 * @param windowMostBytes in flight from one peer, however much was measured; also what a lender may owe one connection
 * @param allPeersBytes in flight from all peers together, divided among those that are asked now; each has the least
 *     window in any case
 * @param requestsInFlight on one connection
 * @param requestsPerPeer in flight or waiting
 * @param largestSampleBytes that is ever transferred
 * @param connections that the server accepts, handshake done
 * @param handshakes that the server has under way
 * @param peers that the client knows
 * @param backOffLeastMs how long a peer is left alone after its first failure
 * @param backOffMostMs the same after many
 * @param expiriesInARow after which a peer counts as too slow and is left alone
 */
public record TransferLimits(
        int connectTimeoutMs,
        int handshakeTimeoutMs,
        int silenceMs,
        int stallMs,
        long windowLeastBytes,
        long windowStartBytes,
        long windowMostBytes,
        long allPeersBytes,
        int requestsInFlight,
        int requestsPerPeer,
        long largestSampleBytes,
        int connections,
        int handshakes,
        int peers,
        int backOffLeastMs,
        int backOffMostMs,
        int expiriesInARow) {
    /** For nodes of one machine room. */
    public static final TransferLimits DEFAULT = new TransferLimits(
            3_000, 3_000, 2_000, 10_000, 512 << 10, 1 << 20, 64 << 20, 256 << 20, 512, 4096, 1L << 30, 1024, 64, 1024,
            200, 60_000, 16);

    public TransferLimits {
        if (windowLeastBytes <= 0 || windowStartBytes < windowLeastBytes || windowMostBytes < windowStartBytes) {
            throw new IllegalArgumentException("windows must be 0 < least <= start <= most");
        }
        if (largestSampleBytes > Integer.MAX_VALUE - 64) {
            throw new IllegalArgumentException("one sample must fit into one buffer of 2 GiB");
        }
        if (requestsInFlight < 1
                || requestsInFlight > Frames.MOST_REQUESTS_IN_FLIGHT
                || requestsPerPeer < requestsInFlight) {
            throw new IllegalArgumentException(
                    "requests must be 1 <= in flight <= " + Frames.MOST_REQUESTS_IN_FLIGHT + ", in flight <= per peer");
        }
    }

    /** The same with other times, milliseconds. */
    public TransferLimits withTimes(
            int connectMs, int handshakeMs, int silenceMs, int stallMs, int backOffLeastMs, int backOffMostMs) {
        return new TransferLimits(
                connectMs,
                handshakeMs,
                silenceMs,
                stallMs,
                windowLeastBytes,
                windowStartBytes,
                windowMostBytes,
                allPeersBytes,
                requestsInFlight,
                requestsPerPeer,
                largestSampleBytes,
                connections,
                handshakes,
                peers,
                backOffLeastMs,
                backOffMostMs,
                expiriesInARow);
    }

    /** The same with other windows, bytes. */
    public TransferLimits withWindows(long leastBytes, long startBytes, long mostBytes, long allPeersBytes) {
        return new TransferLimits(
                connectTimeoutMs,
                handshakeTimeoutMs,
                silenceMs,
                stallMs,
                leastBytes,
                startBytes,
                mostBytes,
                allPeersBytes,
                requestsInFlight,
                requestsPerPeer,
                largestSampleBytes,
                connections,
                handshakes,
                peers,
                backOffLeastMs,
                backOffMostMs,
                expiriesInARow);
    }

    /** The same with other numbers of requests and connections. */
    public TransferLimits withCounts(int requestsInFlight, int requestsPerPeer, int connections, int handshakes) {
        return new TransferLimits(
                connectTimeoutMs,
                handshakeTimeoutMs,
                silenceMs,
                stallMs,
                windowLeastBytes,
                windowStartBytes,
                windowMostBytes,
                allPeersBytes,
                requestsInFlight,
                requestsPerPeer,
                largestSampleBytes,
                connections,
                handshakes,
                peers,
                backOffLeastMs,
                backOffMostMs,
                expiriesInARow);
    }
}
