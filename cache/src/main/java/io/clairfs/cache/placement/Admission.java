package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import java.util.List;
import java.util.UUID;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Admits fetched samples to the tier where the plan wants them, no matter who fetched them from where. {@link Insertion} puts them there.
 *
 * <p>A sample that does not fit into the write-back queue of a slower tier gets another chance the next time it is read. A new plan evicts
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
    private final MemoryTier memory;
    private final ResidentSamples residents;
    private final TierRoom room;
    private final Insertion insertion;
    private final long mostWholeBytes;
    private volatile LocalPlan plan = LocalPlan.NONE;
    private volatile boolean planned;

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
        this.memory = memory;
        this.mostWholeBytes = mostWholeBytes;
        residents = new ResidentSamples(tree, memory, slower, queueBytes);
        room = new TierRoom(residents);
        insertion = new Insertion(tree, residents, room, this::plan);
    }

    /** The samples that are resident here. */
    public ResidentSamples residents() {
        return residents;
    }

    /** Sets the listener that is told the tier when a sample is queued for it. */
    public void onQueued(IntConsumer listener) {
        insertion.onQueued(listener);
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
        insertion.lookAgain();
    }

    /** No job is left: resident samples stay until their room is needed. */
    void followNone() {
        follow(LocalPlan.NONE);
        planned = false;
    }

    /** The name of the tier that the plan wants the sample in, if it says. */
    @Nullable
    public String plannedFor(int file) {
        int wanted = plan.keptIn(file);
        return wanted < 0 ? null : residents.tier(wanted).name();
    }

    /** Whether the sample is small enough to be in memory as a whole, on its way to a slower tier or a peer. */
    public boolean mayBeWhole(int file) {
        return tree.keptSize(file) <= mostWholeBytes;
    }

    /** Whether a tier would take the sample if a reader had it fetched now, as far as can be told: it is wanted there, or there is free room. */
    public boolean wouldKeep(int file) {
        long bytes = tree.keptSize(file);
        int wanted = plan.tierOf(file);
        return switch (wanted) {
            case MEMORY -> true;
            case LocalPlan.ANYWHERE ->
                IntStream.range(0, residents.tiers().size())
                        .anyMatch(tier -> room.isFree(tier, bytes) && (tier == MEMORY || takesMore(tier)));
            default ->
                !residents.isHere(file) && (memory.hasRoomForRecent(bytes) || (wanted > MEMORY && takesMore(wanted)));
        };
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
        return plan.wants(file, tier);
    }

    /** Whether a fetch for this tier makes sense now. */
    public boolean takesMore(int tier) {
        return insertion.takes(tier) && planned && residents.queue(tier).takesMore() && !insertion.isCrowded(tier);
    }

    /**
     * Reserves room for a missing sample in its tier and in the write-back queue, for else it might be fetched and then dropped. Waits a
     * moment for room in the queue.
     *
     * @return null when it is not missing, another thread has reserved room for it, or there is none
     */
    public TierRoom.@Nullable Reservation reserve(int file, int tier) {
        if (!insertion.mayMakeRoom(tier, tree.keptSize(file))) {
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
            boolean _ = insertion.keepIn(wanted, now, file, sample);
        } else if (!keepCopy(file, sample)
                && !keepForHome(file, sample)
                && byReader
                && !keepBetween(file, sample)
                && !residents.isHere(file)) {
            insertion.keepRecent(file, sample);
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
            boolean _ = insertion.keepIn(MEMORY, LocalPlan.NONE, file, sample);
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
        if (tier <= MEMORY || !insertion.takes(tier) || residents.isHere(file)) {
            return;
        }
        room.awaitQueue(tier, sample.size());
        boolean _ = insertion.keepIn(tier, now, file, sample);
    }

    private void keepWhereRoom(LocalPlan by, int file, SampleBuffer sample) {
        for (int tier = 0; tier < residents.tiers().size() && !residents.isHere(file); tier++) {
            if (room.isFor(file, tier, sample.size())) {
                boolean _ = insertion.keepIn(tier, by, file, sample);
            }
        }
    }

    /** Keeps a sample with its home elsewhere if it is used here sooner than others. Returns whether it is kept. */
    private boolean keepCopy(int file, SampleBuffer sample) {
        LocalPlan now = plan;
        ReplicaSpace copies = now.copies();
        if (copies == null) {
            return false;
        }
        synchronized (copies) { // else another thread might evict meanwhile what is kept here
            int tier = copies.offer(file, insertion::letGoReplica);
            while (tier != LocalPlan.NOWHERE) {
                boolean _ = insertion.keepIn(tier, now, file, sample);
                if (residents.isKept(tier, file)) {
                    return true;
                }
                tier = copies.demote(file); // its queue is full, or memory is full of last copies
            }
            return false;
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
                boolean _ = insertion.keepIn(MEMORY, now, file, sample);
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

    /** Writes the sample that has waited longest for this tier. Returns whether there was one. */
    public boolean writeNext(int tier) {
        return insertion.writeNext(tier);
    }

    /** Admits copies of what the plan wants in memory to slower tiers too. */
    public CopyAdmission copyAdmission() {
        return new CopyAdmission(tree, this, room);
    }

    /** Drops what the write-back queues hold. */
    @Override
    public void close() {
        residents.close();
    }
}
