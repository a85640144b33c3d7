package io.clairfs.cache.placement;

import io.clairfs.cache.tier.Tier;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The room of the tiers, and the part of it that is reserved for samples being fetched: else two might be fetched for the same room, and
 * one dropped. Thread-safe; its lock comes before those of the queues and tiers, and is never held while it waits.
 */
public final class TierRoom {
    private static final long LONGEST_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final ResidentSamples residents;
    private final Map<Integer, Reservation> byFile = new HashMap<>();
    private final long[] bytes;

    TierRoom(ResidentSamples residents) {
        this.residents = residents;
        bytes = new long[residents.tiers().size()];
    }

    /** Room for a sample to fetch, in its tier and in the write-back queue; closed after the fetch. */
    public final class Reservation implements AutoCloseable {
        private final int file;
        private final int tier;
        private final long size;

        private Reservation(int file, int tier, long size) {
            this.file = file;
            this.tier = tier;
            this.size = size;
        }

        @Override
        public void close() {
            residents.queue(tier).giveBack(file);
            giveBack(file);
        }
    }

    /**
     * Reserves the room for a sample of so many bytes. Waits a moment for room in the queue.
     *
     * @param isMissing whether it still has to be fetched, asked while no other thread can reserve
     * @return null when it is not missing, another thread has reserved room for it, or there is none
     */
    @Nullable
    Reservation reserve(int file, int tier, long sampleBytes, BooleanSupplier isMissing) {
        Reservation mine = new Reservation(file, tier, residents.tier(tier).bytesOf(sampleBytes));
        if (!add(mine, isMissing)) {
            return null;
        }
        try {
            if (tier == ResidentSamples.MEMORY || residents.queue(tier).reserve(file, sampleBytes, LONGEST_WAIT_NS)) {
                return mine;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        mine.close();
        return null;
    }

    private synchronized boolean add(Reservation mine, BooleanSupplier isMissing) {
        if (!isMissing.getAsBoolean() || byFile.putIfAbsent(mine.file, mine) != null) {
            return false;
        }
        bytes[mine.tier] += mine.size;
        return true;
    }

    /** Ends the reservation for a file: its tier counts it now, or it is not needed. */
    synchronized void giveBack(int file) {
        Reservation given = byFile.remove(file);
        if (given != null) {
            bytes[given.tier] -= given.size;
        }
    }

    /** Whether there is room for a sample of so many bytes: reserved for it, or free. */
    boolean isFor(int file, int tier, long sampleBytes) {
        return isReservedFor(file, tier) || isFree(tier, sampleBytes);
    }

    private synchronized boolean isReservedFor(int file, int tier) {
        Reservation reservation = byFile.get(file);
        return reservation != null && reservation.tier == tier;
    }

    private synchronized long reserved(int tier) {
        return bytes[tier];
    }

    /** Whether there is free room for a sample of so many bytes. */
    boolean isFree(int tier, long sampleBytes) {
        Tier into = residents.tier(tier);
        long taken = into.usedBytes() + residents.queue(tier).bytes() + reserved(tier);
        return into.isWritable() && taken + into.bytesOf(sampleBytes) <= into.sampleRoomBytes();
    }

    /** Waits a moment for room in the write-back queue of a tier. */
    void awaitQueue(int tier, long sampleBytes) {
        try {
            residents.queue(tier).awaitRoom(sampleBytes, LONGEST_WAIT_NS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
