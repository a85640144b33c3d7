package io.clairfs.cache.placement;

import java.util.HashMap;
import java.util.Map;

/** Room in the tiers for samples that are being fetched for them. Thread-safe. */
final class ReservedRoom {
    private final Map<Integer, Reservation> byFile = new HashMap<>();
    private final long[] bytes;

    ReservedRoom(int tiers) {
        bytes = new long[tiers];
    }

    private record Reservation(int tier, long bytes) {}

    /** Returns whether it was taken; false when there is some for this file already. */
    synchronized boolean add(int file, int tier, long size) {
        if (byFile.putIfAbsent(file, new Reservation(tier, size)) != null) {
            return false;
        }
        bytes[tier] += size;
        return true;
    }

    synchronized void giveBack(int file) {
        Reservation given = byFile.remove(file);
        if (given != null) {
            bytes[given.tier] -= given.bytes;
        }
    }

    synchronized boolean has(int file, int tier) {
        Reservation reservation = byFile.get(file);
        return reservation != null && reservation.tier == tier;
    }

    synchronized long bytes(int tier) {
        return bytes[tier];
    }
}
