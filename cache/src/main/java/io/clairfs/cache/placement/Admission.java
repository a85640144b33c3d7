package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import java.util.List;
import java.util.UUID;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Admits what was fetched to the tier where the plan wants it, whoever fetched it and wherever it came from.
 *
 * <p>Memory takes a sample at once. A slower tier has a queue of samples on their way to it, which threads of its own write, so
 * that nobody who waits for a sample waits for a disk; what does not fit into the queue comes by again the next time it is
 * read. When the plan changes, nothing is thrown away for it: samples of the old one stay until their room is needed.
 *
 * <p>Made before there is a plan; {@link #follow} gives it one, again and again; closed after the last fetch. Thread-safe.
 */
public final class Admission implements AutoCloseable {
    private static final int MEMORY = ResidentSamples.MEMORY;

    private final DatasetTree tree;
    private final ResidentSamples residents;
    private final TierRoom room;
    private final Eviction eviction;
    private volatile LocalPlan plan = LocalPlan.NONE;
    private volatile boolean planned;
    private volatile IntConsumer queued = _ -> {};

    /**
     * To {@code memory} and to {@code slower} tiers, fastest first.
     *
     * @param queueBytes what may be on its way to each of the slower ones
     */
    public Admission(DatasetTree tree, MemoryTier memory, List<? extends Tier> slower, long queueBytes) {
        this.tree = tree;
        residents = new ResidentSamples(tree, memory, slower, queueBytes);
        room = new TierRoom(residents);
        eviction = new Eviction(tree, residents, this::isUnwanted, this::evict);
    }

    /** What was admitted and is still here. */
    public ResidentSamples residents() {
        return residents;
    }

    /** Who is told that a sample waits to be written to a tier. */
    public void onQueued(IntConsumer listener) {
        queued = listener;
    }

    /** What is done now with what is fetched. */
    public LocalPlan plan() {
        return plan;
    }

    /** The node that the plan has made this sample's home, or null. */
    public @Nullable UUID homeOf(int file) {
        return plan.homeOf(file);
    }

    /** Whether the plan waits for other nodes. */
    public boolean isPlanPending() {
        return plan.isPending();
    }

    /** Whether there is a plan, be it the one to keep things while there is room. */
    boolean hasPlan() {
        return planned;
    }

    /** From now on samples go where {@code next} says; prefetchers bring what is missing. */
    public void follow(LocalPlan next) {
        plan = next;
        planned = true;
        eviction.lookAgain();
    }

    /** There is no job any more: what is here stays until its room is needed. */
    void followNone() {
        follow(LocalPlan.NONE);
        planned = false;
    }

    /** The name of the tier that the plan wants the sample in, if it says. */
    @Nullable
    public String plannedFor(int file) {
        int wanted = keptIn(file);
        return wanted < 0 ? null : residents.tier(wanted).name();
    }

    /** Whether a prefetcher has to bring this sample to this tier. */
    public boolean isMissing(int file, int tier) {
        int wanted = plan.tierOf(file);
        if (wanted == LocalPlan.ANYWHERE) {
            return !residents.isHere(file) && room.isFree(tier, tree.entry(file).size());
        }
        return wanted == tier && !residents.isIn(tier, file);
    }

    /** Whether the sample is to be brought to this tier, as the plan is now. */
    public boolean wants(int file, int tier) {
        int wanted = plan.tierOf(file);
        return wanted == tier || wanted == LocalPlan.ANYWHERE;
    }

    /** Whether it makes sense to fetch something for this tier now. */
    public boolean takesMore(int tier) {
        return residents.tier(tier).isWritable()
                && planned
                && residents.queue(tier).takesMore();
    }

    /**
     * Takes the room that a missing sample needs in its tier and on the way to it, for else it might be fetched and then dropped. Waits a moment for
     * samples that are on their way to a disk.
     *
     * @return null when it is not missing, somebody else has taken room for it, or there is none
     */
    public TierRoom.@Nullable Reservation reserve(int file, int tier) {
        return room.reserve(file, tier, tree.entry(file).size(), () -> isMissing(file, tier));
    }

    /**
     * A sample was fetched. The caller keeps its reference.
     *
     * @param byReader whether a reader asked for it, rather than a prefetcher
     */
    public void fetched(int file, SampleBuffer sample, boolean byReader) {
        int wanted = plan.tierOf(file);
        if (wanted == LocalPlan.ANYWHERE) {
            keepWhereRoom(file, sample);
        } else if (wanted != LocalPlan.NOWHERE) {
            keepIn(wanted, file, sample);
        } else if (!keepCopy(file, sample) && byReader && !residents.isHere(file)) {
            eviction.makeRoom(MEMORY, sample.size(), () -> residents.keepRecent(file, sample));
        }
    }

    /**
     * Once more for a sample that the plan wants on a disk whose queue was full: waits a moment for room, for else it would have to be fetched
     * again. The caller keeps its reference.
     */
    public void keepPatiently(int file, SampleBuffer sample) {
        int tier = plan.tierOf(file);
        if (tier <= MEMORY || !residents.tier(tier).isWritable() || residents.isHere(file)) {
            return;
        }
        room.awaitQueue(tier, sample.size());
        keepIn(tier, file, sample);
    }

    private void keepWhereRoom(int file, SampleBuffer sample) {
        for (int tier = 0; tier < residents.tiers().size() && !residents.isHere(file); tier++) {
            if (room.isFor(file, tier, sample.size())) {
                keepIn(tier, file, sample);
            }
        }
    }

    /** Keeps a sample with its home elsewhere if it is used here sooner than others. Returns whether it is to be kept. */
    private boolean keepCopy(int file, SampleBuffer sample) {
        ReplicaSpace copies = plan.copies();
        if (copies == null) {
            return false;
        }
        synchronized (copies) { // else what is kept here might have been evicted meanwhile by another thread
            int tier = copies.offer(file, residents::evict);
            if (tier == LocalPlan.NOWHERE) {
                return false;
            }
            keepIn(tier, file, sample);
            return true;
        }
    }

    private void keepIn(int tier, int file, SampleBuffer sample) {
        if (tier == MEMORY) {
            put(tier, file, sample);
        } else if (!residents.tier(tier).contains(file) && residents.queue(tier).offer(file, sample)) {
            queued.accept(tier);
        }
    }

    private void put(int tier, int file, SampleBuffer sample) {
        eviction.makeRoom(tier, sample.size(), () -> {
            boolean kept = residents.keep(tier, file, sample);
            if (kept) {
                room.giveBack(file);
            }
            return kept;
        });
    }

    /** A sample that the plan wants in another tier goes there rather than away, for else it would have to be fetched again. */
    private void evict(int file, int tier) {
        int wanted = plan.tierOf(file);
        if (wanted >= MEMORY && wanted != tier && !residents.isIn(wanted, file)) {
            SampleBuffer sample = tier == MEMORY ? residents.fromMemory(file) : residents.get(tier, file);
            if (sample != null) {
                try {
                    keepIn(wanted, file, sample);
                } finally {
                    sample.release();
                }
            }
        }
        residents.evict(tier, file);
    }

    /** Writes the sample that has waited longest for this tier. Returns whether there was one. */
    public boolean writeNext(int tier) {
        WriteBackQueue queue = residents.queue(tier);
        int file = queue.next();
        if (file == WriteBackQueue.NONE) {
            return false;
        }
        try {
            SampleBuffer sample = queue.get(file);
            if (sample != null) {
                try {
                    if (plan.copies() == null || !isUnwanted(file, tier)) { // a copy may have gone meanwhile
                        put(tier, file, sample);
                    }
                } finally {
                    sample.release();
                }
            }
        } finally {
            queue.done(file);
        }
        return true;
    }

    /** The tier that is to hold the sample, as the plan says or as one of the copies that are kept by next use. */
    private int keptIn(int file) {
        LocalPlan now = plan;
        ReplicaSpace copies = now.copies();
        int wanted = now.tierOf(file);
        return wanted == LocalPlan.NOWHERE && copies != null ? copies.tierOf(file) : wanted;
    }

    private boolean isUnwanted(int file, int tier) {
        int wanted = keptIn(file);
        return wanted != tier && wanted != LocalPlan.ANYWHERE;
    }

    /** Drops what is on its way. */
    @Override
    public void close() {
        residents.close();
    }
}
