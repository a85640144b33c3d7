package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.tier.Tier;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Evicts samples of older plans. A new plan evicts nothing by itself: each of them goes when its room is needed.
 *
 * <p>Each file is looked at once per tier and plan. Thread-safe without a lock.
 */
final class Eviction {
    private static final int NONE = -1;

    private final DatasetTree tree;
    private final ResidentSamples residents;
    private final Unwanted unwanted;
    private final Evictor evictor;
    private final List<AtomicInteger> looked;

    /** Whether the plan does not want a file in a tier. */
    @FunctionalInterface
    interface Unwanted {
        boolean isUnwanted(int file, int tier);
    }

    /** Takes a file out of a tier. */
    @FunctionalInterface
    interface Evictor {
        void evict(int file, int tier);
    }

    Eviction(DatasetTree tree, ResidentSamples residents, Unwanted unwanted, Evictor evictor) {
        this.tree = tree;
        this.residents = residents;
        this.unwanted = unwanted;
        this.evictor = evictor;
        looked = residents.tiers().stream().map(_ -> new AtomicInteger()).toList();
    }

    /** Begins anew for another plan. */
    void lookAgain() {
        looked.forEach(at -> at.set(0));
    }

    /** Tries until a sample of so many bytes is kept. Evicts one leftover of the tier per try, while there are any. */
    void makeRoom(int tier, long bytes, BooleanSupplier keep) {
        while (!keep.getAsBoolean()) {
            int old = couldTake(tier, bytes) ? next(tier) : NONE;
            if (old == NONE) {
                return;
            }
            evictor.evict(old, tier);
        }
    }

    /** Whether the tier would take so many bytes if it were empty. */
    private boolean couldTake(int tier, long bytes) {
        Tier into = residents.tier(tier);
        return into.isWritable() && into.bytesOf(bytes) <= into.sampleRoomBytes();
    }

    private int next(int tier) {
        AtomicInteger at = looked.get(tier);
        int end = tree.entryCount();
        while (at.get() < end) {
            int file = at.getAndIncrement();
            if (file < end
                    && unwanted.isUnwanted(file, tier)
                    && residents.tier(tier).contains(file)) {
                return file;
            }
        }
        return NONE;
    }
}
