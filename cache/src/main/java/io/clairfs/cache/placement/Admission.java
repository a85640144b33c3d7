package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import java.util.List;
import java.util.UUID;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Admits fetched samples to the tier where the plan wants them, no matter who fetched them from where.
 *
 * <p>Memory takes a sample at once. A slower tier has a bounded write-back queue, which threads of their own write: no thread that waits
 * for a sample waits for a disk. A sample that does not fit into the queue gets another chance the next time it is read. A new plan evicts
 * nothing by itself: samples of the old one stay until their room is needed.
 *
 * <p>Life cycle: made before there is a plan; {@link #follow} gives it one plan after another; closed after the last fetch. Thread-safe. It
 * has no lock of its own. It decides about a replica under the lock of {@link ReplicaSpace}, about
 * what is kept between trainings under that of {@link BetweenTrainings}, and takes those of {@link TierRoom}, the queue
 * and the tiers inside. Nothing waits for room under it; listeners are called under it, and must return at once.
 */
public final class Admission implements AutoCloseable {
    private static final int MEMORY = ResidentSamples.MEMORY;

    private final DatasetTree tree;
    private final ResidentSamples residents;
    private final TierRoom room;
    private final Eviction eviction;
    private final long mostWholeBytes;
    private volatile LocalPlan plan = LocalPlan.NONE;

    /** A tier whose queue refused what another one was to give up, or {@link LocalPlan#NOWHERE}. */
    private volatile int crowded = LocalPlan.NOWHERE;

    private volatile boolean planned;
    private volatile IntConsumer queued = _ -> {};

    /** As the other constructor, for samples of any size. */
    public Admission(DatasetTree tree, MemoryTier memory, List<? extends Tier> slower, long queueBytes) {
        this(tree, memory, slower, queueBytes, Long.MAX_VALUE);
    }

    /**
     * Admits to {@code memory} and to {@code slower} tiers, fastest first.
     *
     * @param queueBytes the bound of the write-back queue of each slower tier
     * @param mostWholeBytes a larger sample is not brought to a slower tier: it would be in memory as a whole on its way
     */
    public Admission(
            DatasetTree tree, MemoryTier memory, List<? extends Tier> slower, long queueBytes, long mostWholeBytes) {
        this.tree = tree;
        this.mostWholeBytes = mostWholeBytes;
        residents = new ResidentSamples(tree, memory, slower, queueBytes);
        room = new TierRoom(residents);
        eviction = new Eviction(tree, residents, this::isUnwanted, this::evict, this::giveUpReplica);
    }

    /** The samples that are resident here. */
    public ResidentSamples residents() {
        return residents;
    }

    /** Sets the listener that is told the tier when a sample is queued for it. */
    public void onQueued(IntConsumer listener) {
        queued = listener;
    }

    /** The plan that is followed now. */
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

    /** Whether there is a plan, including one that only keeps samples while there is room. */
    boolean hasPlan() {
        return planned;
    }

    /** Samples go where {@code next} says from now on; fillers bring missing ones. */
    public void follow(LocalPlan next) {
        plan = next;
        planned = true;
        eviction.lookAgain();
    }

    /** No job is left: resident samples stay until their room is needed. */
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

    /** Whether the sample is small enough to be in memory as a whole, on its way to a slower tier or a peer. */
    public boolean mayBeWhole(int file) {
        return tree.keptSize(file) <= mostWholeBytes;
    }

    /** Whether a filler has to bring this sample to this tier. */
    public boolean isMissing(int file, int tier) {
        if (tier != MEMORY && !mayBeWhole(file)) {
            return false;
        }
        int wanted = plan.tierOf(file);
        if (wanted == LocalPlan.ANYWHERE) {
            return !residents.isHere(file) && room.isFree(tier, tree.keptSize(file));
        }
        return wanted == tier && !residents.isIn(tier, file);
    }

    /** Whether the plan wants the sample in this tier now. */
    public boolean wants(int file, int tier) {
        int wanted = plan.tierOf(file);
        return wanted == tier || wanted == LocalPlan.ANYWHERE;
    }

    /** Whether a fetch for this tier makes sense now. */
    public boolean takesMore(int tier) {
        return residents.tier(tier).isWritable()
                && planned
                && residents.queue(tier).takesMore()
                && !isCrowded(tier);
    }

    /** Whether what this tier would give up for more is to go to another that takes no more for the moment. */
    private boolean isCrowded(int tier) {
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

    /**
     * Reserves room for a missing sample in its tier and in the write-back queue, for else it might be fetched and then dropped. Waits a
     * moment for room in the queue.
     *
     * @return null when it is not missing, another thread has reserved room for it, or there is none
     */
    public TierRoom.@Nullable Reservation reserve(int file, int tier) {
        if (!residents.tier(tier).mayGrowBy(tree.keptSize(file)) && !eviction.mayFindLeftover(tier)) {
            return null; // the medium is full, and nothing makes room on it
        }
        return room.reserve(file, tier, tree.keptSize(file), () -> isMissing(file, tier));
    }

    /**
     * Keeps a fetched sample where the plan wants it. The caller keeps its reference.
     *
     * @param byReader whether a reader asked for it, rather than a loader, a filler or a peer
     */
    public void fetched(int file, SampleBuffer sample, boolean byReader) {
        LocalPlan now = plan;
        int wanted = now.tierOf(file);
        if (wanted == LocalPlan.ANYWHERE) {
            keepWhereRoom(now, file, sample);
        } else if (wanted != LocalPlan.NOWHERE) {
            boolean _ = keepIn(wanted, now, file, sample);
        } else if (!keepCopy(file, sample) && !keepForHome(file, sample) && byReader && !keepBetween(file, sample)) {
            keepRecent(file, sample);
        }
    }

    private void keepRecent(int file, SampleBuffer sample) {
        if (!residents.isHere(file)) {
            eviction.makeRoom(
                    MEMORY, sample.size(), () -> Eviction.Worth.LEFTOVERS, () -> residents.keepRecent(file, sample));
        }
    }

    /**
     * Keeps a sample that came from the source before its home on another node has it, or is known, as a leftover: its home gets it from here.
     * Returns whether it is here.
     */
    private boolean keepForHome(int file, SampleBuffer sample) {
        LocalPlan now = plan;
        boolean hasHome = now.isPending() || now.homeOf(file) != null;
        if (hasHome && !residents.isHere(file) && !residents.isElsewhere(file)) {
            put(MEMORY, LocalPlan.NONE, file, sample);
        }
        return residents.isHere(file);
    }

    /**
     * Tries again to keep a sample whose write-back queue was full: waits a moment for room, which saves a second fetch. The caller keeps
     * its reference.
     */
    public void keepPatiently(int file, SampleBuffer sample) {
        LocalPlan now = plan;
        int tier = now.tierOf(file);
        if (tier <= MEMORY || !residents.tier(tier).isWritable() || residents.isHere(file)) {
            return;
        }
        room.awaitQueue(tier, sample.size());
        boolean _ = keepIn(tier, now, file, sample);
    }

    private void keepWhereRoom(LocalPlan by, int file, SampleBuffer sample) {
        for (int tier = 0; tier < residents.tiers().size() && !residents.isHere(file); tier++) {
            if (room.isFor(file, tier, sample.size())) {
                boolean _ = keepIn(tier, by, file, sample);
            }
        }
    }

    /** Keeps a sample with its home elsewhere if it is used here sooner than others. Returns whether it should be kept. */
    private boolean keepCopy(int file, SampleBuffer sample) {
        LocalPlan now = plan;
        ReplicaSpace copies = now.copies();
        if (copies == null) {
            return false;
        }
        synchronized (copies) { // else another thread might evict meanwhile what is kept here
            int tier = copies.offer(file, this::letGoReplica);
            if (tier == LocalPlan.NOWHERE) {
                return false;
            }
            boolean _ = keepIn(tier, now, file, sample);
            return true;
        }
    }

    /** A training's loader has fetched a sample: keeps it if another training of the same order reads it soon. The caller keeps its reference. */
    public void fetchedFor(JobRun job, int file, SampleBuffer sample) {
        BetweenTrainings between = plan.between();
        if (between != null && !residents.isHere(file) && between.isAwaitedBehind(job)) {
            keepBetween(file, sample);
        }
    }

    private boolean keepBetween(int file, SampleBuffer sample) {
        LocalPlan now = plan;
        BetweenTrainings between = now.between();
        if (between == null) {
            return false;
        }
        synchronized (between) { // else another thread might evict meanwhile what is kept here
            boolean keep = between.offer(file, this::letGoBetween);
            if (keep) {
                boolean _ = keepIn(MEMORY, now, file, sample);
            }
            return keep;
        }
    }

    /** A reader has read this file. */
    public void read(int file) {
        BetweenTrainings between = plan.between();
        if (between != null) {
            synchronized (between) {
                if (between.read(file)) {
                    letGoBetween(file);
                }
            }
        }
    }

    /** No training waits for this file any more; the plan, which may be newer, may want it all the same. */
    private void letGoBetween(int file) {
        if (plan.tierOf(file) != MEMORY) {
            residents.evict(MEMORY, file);
        }
    }

    /** Keeps a sample where {@code by}, which may have been replaced meanwhile, wants it. Returns false if the queue of a slower tier is full. */
    private boolean keepIn(int tier, LocalPlan by, int file, SampleBuffer sample) {
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

    @SuppressWarnings("ReferenceEquality") // the same plan, not one that is alike
    private void put(int tier, LocalPlan by, int file, SampleBuffer sample) {
        eviction.makeRoom(tier, sample.size(), () -> worth(file, tier), () -> {
            boolean kept = residents.keep(tier, file, sample);
            if (kept) {
                room.giveBack(file);
            }
            return kept;
        });
        if (plan != by && isUnwanted(file, tier) && residents.tier(tier).contains(file)) {
            eviction.leftover(file, tier); // else the plan that came meanwhile would find no room for another
        }
    }

    private Eviction.Worth worth(int file, int tier) {
        if (wants(file, tier)) {
            return Eviction.Worth.LAST_COPIES;
        }
        return isUnwanted(file, tier) ? Eviction.Worth.REPLICAS : Eviction.Worth.LEFTOVERS;
    }

    /** The home of a former replica may not have it yet. */
    private void letGoReplica(int file) {
        if (residents.isElsewhere(file)) {
            residents.evict(file);
        } else {
            int tier = residents.tierOf(file);
            if (tier >= MEMORY) {
                eviction.leftover(file, tier);
            }
        }
    }

    private int giveUpReplica(int tier) {
        ReplicaSpace copies = plan.copies();
        return copies == null ? Eviction.NONE : copies.giveUp(tier, residents::isElsewhere);
    }

    /**
     * Evicts a sample. It moves to the tier where the plan wants it, if any, which saves a second fetch. Returns false where that one takes no more now:
     * then it stays.
     */
    private boolean evict(int file, int tier) {
        LocalPlan now = plan;
        int wanted = now.tierOf(file);
        if (wanted >= MEMORY && wanted != tier && !residents.isIn(wanted, file)) {
            SampleBuffer sample = tier == MEMORY ? residents.fromMemory(file) : residents.get(tier, file);
            if (sample != null) {
                try {
                    if (!keepIn(wanted, now, file, sample)
                            && residents.tier(wanted).isWritable()) {
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
        return true;
    }

    /** The outcome of copying a sample to a slower tier as well. */
    public enum Copying {
        QUEUED,
        /** The tier, or another slower one, has it, or the plan does not want it in memory. */
        NOT_NEEDED,
        /** It is not in memory yet, or there is no room. */
        NOT_NOW
    }

    /** Where a slower tier could hold copies of what the plan wants in memory. */
    public enum RoomForCopies {
        /** Beside all that the plan wants there. */
        FOR_ALL,
        /** In what is left over, until the plan needs it. */
        SPARE,
        /** The medium has less room than the tier may take, so a copy could keep out what the plan wants. */
        NONE
    }

    /** The room of a slower tier for copies under this plan. Looks at each sample of the plan. */
    public RoomForCopies roomForCopies(LocalPlan of, int tier) {
        Tier into = residents.tier(tier);
        long bytes = 0;
        for (int from : new int[] {MEMORY, tier}) {
            for (int file : of.fillOrder(from)) {
                bytes += into.bytesOf(tree.keptSize(file));
            }
        }
        long most = into.sampleRoomBytes();
        if (!into.mayGrowBy(Math.max(0, Math.min(bytes, most) - into.usedBytes()))) {
            return RoomForCopies.NONE;
        }
        return bytes <= most ? RoomForCopies.FOR_ALL : RoomForCopies.SPARE;
    }

    /**
     * Has a sample that the plan wants in memory written to a slower tier too, if that has room that nothing else needs. Waits for nothing.
     * Where replicas have that room, nothing is copied.
     */
    public Copying copyBeside(int file, int tier) {
        if (plan.tierOf(file) != MEMORY || plan.copies() != null || residents.isBelowMemory(file)) {
            return Copying.NOT_NEEDED;
        }
        long bytes = tree.keptSize(file);
        if (!takesMore(tier)
                || !room.isFree(tier, bytes)
                || !residents.tier(tier).mayGrowBy(bytes)) {
            return Copying.NOT_NOW;
        }
        SampleBuffer sample = residents.fromMemory(file);
        if (sample == null) {
            return Copying.NOT_NOW;
        }
        try {
            return residents.queue(tier).offer(file, sample) ? Copying.QUEUED : Copying.NOT_NOW;
        } finally {
            sample.release();
        }
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
                    if (plan.copies() == null || !isUnwanted(file, tier)) { // a replica may have gone meanwhile
                        put(tier, LocalPlan.NONE, file, sample);
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

    /** The tier that should hold the sample: by the plan, as a replica kept by next use, or between trainings. */
    private int keptIn(int file) {
        LocalPlan now = plan;
        ReplicaSpace copies = now.copies();
        BetweenTrainings between = now.between();
        int wanted = now.tierOf(file);
        if (wanted == LocalPlan.NOWHERE && between != null && between.keeps(file)) {
            return MEMORY;
        }
        return wanted == LocalPlan.NOWHERE && copies != null ? copies.tierOf(file) : wanted;
    }

    private boolean isUnwanted(int file, int tier) {
        int wanted = keptIn(file);
        return wanted != tier && wanted != LocalPlan.ANYWHERE;
    }

    /** Drops what the write-back queues hold. */
    @Override
    public void close() {
        residents.close();
    }
}
