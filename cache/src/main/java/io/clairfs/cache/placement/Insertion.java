package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * Puts admitted samples into their tiers, and has {@link Eviction} make room for them.
 *
 * <p>Memory takes a sample at once. A slower tier has a bounded write-back queue, which threads of their own write: no thread that waits
 * for a sample waits for a disk. A sample that is evicted from one tier goes the same way to the one where the plan wants it, if any.
 *
 * <p>Thread-safe. It has no lock of its own. Callers may hold that of {@link ReplicaSpace} or {@link BetweenTrainings}; it takes these, too,
 * to ask what to give up, and those of {@link TierRoom}, the queue and the tiers inside, and waits for no room. The listener is called under
 * the callers' locks, and must return at once.
 */
final class Insertion {
    private static final int MEMORY = ResidentSamples.MEMORY;

    private final ResidentSamples residents;
    private final TierRoom room;
    private final Supplier<LocalPlan> plan;
    private final Eviction eviction;

    /** A tier whose queue refused what another one was to give up, or {@link LocalPlan#NOWHERE}. */
    private volatile int crowded = LocalPlan.NOWHERE;

    private volatile IntConsumer queued = _ -> {};

    /** {@code plan} is the one that is followed at the time. */
    Insertion(DatasetTree tree, ResidentSamples residents, TierRoom room, Supplier<LocalPlan> plan) {
        this.residents = residents;
        this.room = room;
        this.plan = plan;
        eviction = new Eviction(
                tree, residents, (file, tier) -> plan.get().isUnwanted(file, tier), this::evict, this::giveUpReplica);
    }

    /** Sets the listener that is told the tier when a sample is queued for it. */
    void onQueued(IntConsumer listener) {
        queued = listener;
    }

    /** There is another plan: the search for samples to evict begins anew. */
    void lookAgain() {
        eviction.lookAgain();
    }

    /** Whether a tier's medium takes so many more bytes, or there may be samples to evict from the tier. */
    boolean mayMakeRoom(int tier, long sampleBytes) {
        Tier into = residents.tier(tier);
        return into.mayGrowBy(sampleBytes) || (into.couldTake(sampleBytes) && eviction.mayFindLeftover(tier));
    }

    /** Whether a tier takes samples now, if need be in the room of leftovers. */
    boolean takes(int tier) {
        Tier into = residents.tier(tier);
        return into.isWritable() || (into.couldTake(0) && eviction.mayFindLeftover(tier));
    }

    /** Whether what this tier would give up for more is to go to another that takes no more for the moment. */
    boolean isCrowded(int tier) {
        int other = crowded;
        if (other == LocalPlan.NOWHERE || other == tier) {
            return false;
        }
        if (residents.queue(other).takesMore()) {
            crowded = LocalPlan.NOWHERE;
            return false;
        }
        return true;
    }

    /** Keeps a sample where {@code by}, which may have been replaced meanwhile, wants it. Returns false if the queue of a slower tier is full. */
    boolean keepIn(int tier, LocalPlan by, int file, SampleBuffer sample) {
        if (tier == MEMORY) {
            put(tier, by, file, sample);
        } else if (!residents.tier(tier).contains(file)) {
            if (!residents.queue(tier).offer(file, sample)) {
                return false;
            }
            queued.accept(tier);
        }
        return true;
    }

    /** Keeps a sample in memory for a reader that soon comes again, in the room of leftovers. */
    void keepRecent(int file, SampleBuffer sample) {
        eviction.makeRoom(
                MEMORY, sample.size(), () -> Eviction.Worth.LEFTOVERS, () -> residents.keepRecent(file, sample));
    }

    /** Writes the sample that has waited longest for this tier. Returns whether there was one. */
    boolean writeNext(int tier) {
        WriteBackQueue queue = residents.queue(tier);
        int file = queue.next();
        if (file == WriteBackQueue.NONE) {
            return false;
        }
        try {
            SampleBuffer sample = queue.get(file);
            if (sample != null) {
                try {
                    if (plan.get().copies() == null
                            || !plan.get().isUnwanted(file, tier)) { // a replica may have gone meanwhile
                        put(tier, LocalPlan.NONE, file, sample);
                    }
                } finally {
                    sample.release();
                }
            }
        } finally {
            queue.done(file);
            if (!residents
                    .tier(tier)
                    .couldTake(
                            0)) { // where it takes no more for a while, what is counted but not there makes the others
                // go in turn
                takeBackUnlessThere(file, tier);
            }
        }
        return true;
    }

    /**
     * A replica is not kept any more. Memory gives it up at once, a slower tier when a writer needs its room: no thread that has fetched a
     * sample waits for a disk. Where its home may not have it yet, it becomes a leftover in memory, too.
     */
    void letGoReplica(int file) {
        boolean spare = residents.isElsewhere(file);
        for (int tier = MEMORY; tier < residents.tiers().size(); tier++) {
            if (!residents.tier(tier).contains(file)) {
                continue;
            }
            if (!spare) {
                eviction.leftover(file, tier);
            } else if (tier == MEMORY) {
                residents.evict(tier, file);
            } else {
                eviction.spareLeftover(file, tier);
            }
        }
    }

    /** If the file is a replica that should be in this tier, and the tier did not take it, or evicts it just now, it is not counted any longer. */
    private void takeBackUnlessThere(int file, int tier) {
        ReplicaSpace copies = plan.get().copies();
        if (copies == null) {
            return;
        }
        synchronized (copies) { // else another thread might bring it meanwhile
            if (!residents.isKept(tier, file)) {
                copies.takeBack(file, tier);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // the same plan, not one that is alike
    private void put(int tier, LocalPlan by, int file, SampleBuffer sample) {
        eviction.makeRoom(tier, sample.size(), () -> worth(file, tier), () -> {
            boolean kept = residents.keep(tier, file, sample);
            if (kept) {
                room.giveBack(file);
            }
            return kept;
        });
        if (plan.get() != by
                && plan.get().isUnwanted(file, tier)
                && residents.tier(tier).contains(file)) {
            eviction.leftover(file, tier); // else the plan that came meanwhile would find no room for another
        }
    }

    private Eviction.Worth worth(int file, int tier) {
        if (plan.get().wants(file, tier)) {
            return Eviction.Worth.LAST_COPIES;
        }
        return plan.get().isUnwanted(file, tier) ? Eviction.Worth.REPLICAS : Eviction.Worth.LEFTOVERS;
    }

    private int giveUpReplica(int tier) {
        ReplicaSpace copies = plan.get().copies();
        return copies == null ? Eviction.NONE : copies.giveUp(tier, residents::isElsewhere);
    }

    /**
     * Evicts a sample. It moves to the tier where the plan wants it, if any, which saves a second fetch. Returns false where that one takes no more now:
     * then it stays.
     */
    private boolean evict(int file, int tier) {
        LocalPlan now = plan.get();
        int wanted = now.tierOf(file);
        if (wanted >= MEMORY && wanted != tier && !residents.isIn(wanted, file)) {
            SampleBuffer sample = tier == MEMORY ? residents.fromMemory(file) : residents.get(tier, file);
            if (sample != null) {
                try {
                    if (!keepIn(wanted, now, file, sample) && takes(wanted)) {
                        crowded = wanted;
                        eviction.leftover(file, tier);
                        return false;
                    }
                } finally {
                    sample.release();
                }
            }
        }
        residents.evict(tier, file);
        takeBackUnlessThere(file, tier); // it may have become a replica again meanwhile
        return true;
    }
}
