package io.clairfs.peer.transfer.client;

import java.util.List;

/**
 * The present state of a peer, by all its rails together.
 *
 * @param delayNs the least time, lately, from a request to the first byte of its answer; 0 when not known
 * @param bytesPerSecond its highest rate of delivery, lately; 0 when not known
 * @param windowBytes how much it may owe at once
 * @param inFlightBytes how much it owes
 * @param outstanding requests that wait or are in flight
 * @param connected whether there is a connection
 * @param leftAlone whether it is left alone now
 * @param rails the state of each
 */
public record PeerFigures(
        long delayNs,
        long bytesPerSecond,
        long windowBytes,
        long inFlightBytes,
        int outstanding,
        boolean connected,
        boolean leftAlone,
        List<RailFigures> rails) {}
