package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.tier.Tier;
import it.unimi.dsi.fastutil.ints.IntArrayFIFOQueue;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Evicts samples of older plans. A new plan evicts nothing by itself: each of them goes when its room is needed.
 *
 * <p>The last copy in the group goes after all others, replicas too, and only for a sample that the plan wants here, never for a replica (the
 * last-copy rule of Lobster, section 4.4): its home would have to read it from the source.
 *
 * <p>Each file is looked at once per tier and plan, the last copies and what became one later again when there is nothing else.
 *
 * <p>Thread-safe. The last copies of each tier have a lock, that of their {@link Leftovers}; how far the search has come is an atomic number.
 * The lock is held for one step of the queue at a time, and nothing is called under it, so it comes after all others: callers may hold that of
 * {@link ReplicaSpace}, which {@link Unwanted} and {@link Spare} take without this one.
 */
final class Eviction {
    static final int NONE = -1;

    /** How many last copies are looked at again for one eviction: their homes may have them by now. */
    private static final int MOST_LOOKED_AT_AGAIN = 16;

    private final DatasetTree tree;
    private final ResidentSamples residents;
    private final Unwanted unwanted;
    private final Evictor evictor;
    private final Spare spare;
    private final List<Leftovers> leftovers;

    /**
     * Where the search through one tier is, and the last copies that it has passed: all that a node holds of an older plan, where no other node has
     * any of it. So they are numbers, not objects. Its lock guards {@link #last}.
     */
    private static final class Leftovers {
        /** The files below this were looked at. */
        private final AtomicInteger looked = new AtomicInteger();

        private IntArrayFIFOQueue last = new IntArrayFIFOQueue();

        synchronized void add(int file) {
            last.enqueue(file);
        }

        /** Adds one that {@link #poll} gives before all others. */
        synchronized void addFirst(int file) {
            last.enqueueFirst(file);
        }

        /** Takes the one that was added first; {@link #NONE} when there is none. */
        synchronized int poll() {
            return last.isEmpty() ? NONE : last.dequeueInt();
        }

        synchronized boolean isEmpty() {
            return last.isEmpty();
        }

        /** Another queue: an emptied one would keep the memory of millions. */
        synchronized void clear() {
            last = new IntArrayFIFOQueue();
        }
    }

    /** Whether the plan does not want a file in a tier. */
    @FunctionalInterface
    interface Unwanted {
        boolean isUnwanted(int file, int tier);
    }

    /** Takes a file out of a tier. Returns whether it did. */
    @FunctionalInterface
    interface Evictor {
        boolean evict(int file, int tier);
    }

    /** Gives up a replica that a tier holds, and another node too. Returns its file, or {@link #NONE}. */
    @FunctionalInterface
    interface Spare {
        int giveUp(int tier);
    }

    /** What a sample that comes is worth. */
    enum Worth {
        /** Leftovers of which there are other copies. */
        LEFTOVERS,
        /** The same, then replicas: for a sample that nobody else has. */
        REPLICAS,
        /** The same, then last copies: for a sample that the plan wants here. */
        LAST_COPIES
    }

    Eviction(DatasetTree tree, ResidentSamples residents, Unwanted unwanted, Evictor evictor, Spare spare) {
        this.spare = spare;
        this.tree = tree;
        this.residents = residents;
        this.unwanted = unwanted;
        this.evictor = evictor;
        leftovers = residents.tiers().stream().map(_ -> new Leftovers()).toList();
    }

    /** Begins anew for another plan. */
    void lookAgain() {
        for (Leftovers of : leftovers) {
            of.clear();
            of.looked.set(0);
        }
    }

    /** A file that a tier holds has become a leftover, which the search may have passed: it goes when another node has it, or there is none. */
    void leftover(int file, int tier) {
        Leftovers of = leftovers.get(tier);
        if (file < of.looked.get()) { // else the search still comes to it
            of.add(file);
        }
    }

    /** As {@link #leftover}, for a file that another node holds: it goes before the last copies, of which there may be many. */
    void spareLeftover(int file, int tier) {
        Leftovers of = leftovers.get(tier);
        if (file < of.looked.get()) {
            of.addFirst(file);
        }
    }

    /**
     * Tries until a sample of so many bytes is kept. Evicts one sample of the tier per try, while there are any that it is worth and that can go.
     *
     * @param worth asked if there are no leftovers
     */
    void makeRoom(int tier, long bytes, Supplier<Worth> worth, BooleanSupplier keep) {
        while (!keep.getAsBoolean()) {
            int old = couldTake(tier, bytes) ? next(tier, worth) : NONE;
            if (old == NONE || !evictor.evict(old, tier)) {
                return;
            }
        }
    }

    /** Whether there may be samples in a tier that the plan does not want. */
    boolean mayFindLeftover(int tier) {
        Leftovers of = leftovers.get(tier);
        return of.looked.get() < tree.entryCount() || !of.isEmpty();
    }

    /** Whether the tier would take so many bytes in the room of others. */
    private boolean couldTake(int tier, long bytes) {
        Tier into = residents.tier(tier);
        return into.couldTake(bytes) && into.bytesOf(bytes) <= into.sampleRoomBytes();
    }

    private int next(int tier, Supplier<Worth> worth) {
        Leftovers of = leftovers.get(tier);
        int end = tree.entryCount();
        while (of.looked.get() < end) {
            int file = of.looked.getAndIncrement();
            if (file < end && isLeftover(file, tier)) {
                if (residents.isElsewhere(file)) {
                    return file;
                }
                of.add(file);
            }
        }
        return nextOfLast(of, tier, worth);
    }

    private boolean isLeftover(int file, int tier) {
        return unwanted.isUnwanted(file, tier) && residents.tier(tier).contains(file);
    }

    private int nextOfLast(Leftovers of, int tier, Supplier<Worth> worth) {
        for (int i = 0; i < MOST_LOOKED_AT_AGAIN; i++) {
            int file = of.poll();
            if (file == NONE) {
                break;
            }
            if (isLeftover(file, tier)) {
                if (residents.isElsewhere(file)) {
                    return file;
                }
                of.add(file);
            }
        }
        Worth what = worth.get();
        int replica = what == Worth.LEFTOVERS ? NONE : spare.giveUp(tier);
        if (replica != NONE || what != Worth.LAST_COPIES) {
            return replica;
        }
        for (int file = of.poll(); file != NONE; file = of.poll()) {
            if (isLeftover(file, tier)) {
                return file;
            }
        }
        return NONE;
    }
}
