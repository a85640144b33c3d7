package io.clairfs.peer.transfer.client;

import java.net.InetSocketAddress;

/**
 * The present state of one rail to a peer.
 *
 * @param address where the peer is reached by it
 * @param delayNs the least time, lately, from a request to the first byte of its answer; 0 when not known
 * @param bytesPerSecond the highest rate of delivery, lately; 0 when not known
 * @param windowBytes how much the peer may owe by it at once
 * @param inFlightBytes how much it owes
 * @param gotBytes of samples that came by it
 * @param connected whether there is a connection
 * @param leftAlone whether it is left alone now
 */
public record RailFigures(
        InetSocketAddress address,
        long delayNs,
        long bytesPerSecond,
        long windowBytes,
        long inFlightBytes,
        long gotBytes,
        boolean connected,
        boolean leftAlone) {}
