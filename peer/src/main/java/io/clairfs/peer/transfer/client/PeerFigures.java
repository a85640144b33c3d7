package io.clairfs.peer.transfer.client;

/**
 * How a peer does just now.
 *
 * @param delayNs the least time lately between asking and the first byte of the answer; 0 when not known
 * @param bytesPerSecond the most that it delivered lately; 0 when not known
 * @param windowBytes how much it may owe at once
 * @param inFlightBytes how much it owes
 * @param outstanding requests that wait or are in flight
 * @param connected whether there is a connection
 * @param leftAlone whether it is not asked for now
 */
public record PeerFigures(
        long delayNs,
        long bytesPerSecond,
        long windowBytes,
        long inFlightBytes,
        int outstanding,
        boolean connected,
        boolean leftAlone) {}
