package io.clairfs.cache.placement;

import io.clairfs.cache.tier.Tier;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The room of the tiers, and what of it is reserved for samples that are still being fetched: else two might be fetched for the same room, and one dropped.
 * Thread-safe; its lock is never held while it waits.
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

    /** Room for a sample that is still to be fetched, in its tier and on the way to it; to be closed when it was. */
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
     * Takes the room that a sample of so many bytes needs. Waits a moment for samples that are on their way to a disk.
     *
     * @param isMissing whether it is still to be fetched, asked while nobody else can reserve
     * @return null when it is not, somebody else has taken room for it, or there is none
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

    /** What was reserved for a file is counted by its tier from now on, or not needed. */
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

    /** Waits a moment for room on the way to a tier. */
    void awaitQueue(int tier, long sampleBytes) {
        try {
            residents.queue(tier).awaitRoom(sampleBytes, LONGEST_WAIT_NS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
