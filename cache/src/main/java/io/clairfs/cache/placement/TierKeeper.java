package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.StoredSample;
import io.clairfs.cache.tier.Tier;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Puts what was fetched where the plan wants it, whoever fetched it and wherever it came from.
 *
 * <p>Memory takes a sample at once. A slower tier has a queue of samples on their way to it, which threads of its own write, so
 * that nobody who waits for a sample waits for a disk; what does not fit into the queue comes by again the next time it is
 * read. When the plan changes, nothing is thrown away for it: samples of the old one stay until their room is needed.
 */
public final class TierKeeper implements AutoCloseable {
    private static final int MEMORY = 0;
    private static final long LONGEST_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final DatasetTree tree;
    private final MemoryTier memory;
    private final List<Tier> tiers;
    private final List<KeepQueue> queues;
    private final List<AtomicInteger> leftovers;
    private final ReservedRoom reserved;
    private volatile LocalPlan plan = LocalPlan.NONE;
    private volatile boolean planned;
    private volatile IntConsumer queued = _ -> {};
    private volatile Holdings holdings = Holdings.UNTOLD;

    /**
     * A keeper of {@code memory} and of {@code slower} tiers, fastest first.
     *
     * @param queueBytes what may be on its way to each of the slower ones
     */
    public TierKeeper(DatasetTree tree, MemoryTier memory, List<? extends Tier> slower, long queueBytes) {
        this.tree = tree;
        this.memory = memory;
        tiers = Stream.concat(Stream.of(memory), slower.stream()).toList();
        queues = tiers.stream().map(_ -> new KeepQueue(queueBytes)).toList();
        leftovers = tiers.stream().map(_ -> new AtomicInteger()).toList();
        reserved = new ReservedRoom(tiers.size());
    }

    /** The tiers of this node, fastest first. */
    public List<Tier> tiers() {
        return tiers;
    }

    /** Who is told that a sample waits to be written to a tier. */
    public void onQueued(IntConsumer listener) {
        queued = listener;
    }

    /** From now on {@code listener} is told what is kept and evicted here. */
    public void tell(Holdings listener) {
        holdings = listener;
    }

    /** Tells again of everything that is here. */
    public void tellAll() {
        int files = tree.entryCount();
        for (int tier = 0; tier < tiers.size(); tier++) {
            for (int file = 0; file < files; file++) {
                if (isForOthers(tier, file)) {
                    holdings.kept(tier, file);
                }
            }
        }
    }

    /** Whether other nodes are told of it: what memory keeps for recent readers may go at any time, and nobody is told then. */
    private boolean isForOthers(int tier, int file) {
        return tier == MEMORY ? memory.isPinned(file) : tiers.get(tier).contains(file);
    }

    /** The node that the plan has made this sample's home, or null. */
    public @Nullable UUID homeOf(int file) {
        return plan.homeOf(file);
    }

    /** What is done now with what is fetched. */
    public LocalPlan plan() {
        return plan;
    }

    /** Whether some tier here holds the sample, as far as can be told without reading it. */
    public boolean holds(int file) {
        return isHere(file);
    }

    /** The sample if it is in memory, with a reference for the caller; to lend it. */
    public @Nullable SampleBuffer lend(int file) {
        return fromMemory(file);
    }

    /** The sample as it lies in a file, if it can be sent from there without a wait; to lend it. */
    public @Nullable StoredSample lendStored(int file) {
        for (int tier = 1; tier < tiers.size(); tier++) {
            StoredSample stored = tiers.get(tier).lend(file);
            if (stored != null) {
                return stored;
            }
        }
        return null;
    }

    /** The sample from a slower tier that holds it, verified, with a reference for the caller; waits for the medium. */
    public @Nullable SampleBuffer readStored(int file) {
        for (int tier = 1; tier < tiers.size(); tier++) {
            SampleBuffer sample = get(tier, file);
            if (sample != null) {
                return sample;
            }
        }
        return null;
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
        leftovers.forEach(at -> at.set(0));
    }

    /** There is no job any more: what is here stays until its room is needed. */
    void followNone() {
        follow(LocalPlan.NONE);
        planned = false;
    }

    /** The sample if it is in memory or on its way to another tier, with a reference for the caller. */
    @Nullable
    public SampleBuffer fromMemory(int file) {
        SampleBuffer sample = memory.get(file);
        for (int tier = 1; sample == null && tier < tiers.size(); tier++) {
            sample = queues.get(tier).get(file);
        }
        return sample;
    }

    /** The sample from one tier, verified, with a reference for the caller; null if the tier cannot give it. */
    @Nullable
    public SampleBuffer get(int tier, int file) {
        SampleBuffer sample = tiers.get(tier).get(file);
        if (sample == null) {
            tellIfGone(tier, file); // it may have been damaged
        }
        return sample;
    }

    /** Somebody came for a sample that is not here: whatever was told of it is taken back. */
    public void tellGone(int file) {
        for (int tier = 0; tier < tiers.size(); tier++) {
            tellIfGone(tier, file);
        }
    }

    private void tellIfGone(int tier, int file) {
        if (!isForOthers(tier, file)) {
            holdings.gone(tier, file);
            if (isForOthers(tier, file)) {
                holdings.kept(tier, file); // it came meanwhile
            }
        }
    }

    /** Whether the sample is in memory or on its way to another tier. */
    public boolean isInMemory(int file) {
        if (memory.contains(file)) {
            return true;
        }
        for (int tier = 1; tier < tiers.size(); tier++) {
            if (queues.get(tier).contains(file)) {
                return true;
            }
        }
        return false;
    }

    /** The names of the tiers that hold the sample, fastest first. */
    public List<String> holdersOf(int file) {
        return tiers.stream()
                .filter(tier -> tier.contains(file))
                .map(Tier::name)
                .toList();
    }

    /** The name of the tier that the plan wants the sample in, if it says. */
    @Nullable
    public String plannedFor(int file) {
        int planned = keptIn(file);
        return planned < 0 ? null : tiers.get(planned).name();
    }

    /** Whether a prefetcher has to bring this sample to this tier. */
    public boolean isMissing(int file, int tier) {
        int planned = plan.tierOf(file);
        if (planned == LocalPlan.ANYWHERE) {
            return !isHere(file) && hasRoom(tier, tree.entry(file).size());
        }
        return planned == tier
                && !tiers.get(tier).contains(file)
                && !queues.get(tier).contains(file);
    }

    /** Whether some tier holds the sample, or it is on its way to one. */
    public boolean isHere(int file) {
        for (int tier = 0; tier < tiers.size(); tier++) {
            if (tiers.get(tier).contains(file) || queues.get(tier).contains(file)) {
                return true;
            }
        }
        return false;
    }

    private boolean hasRoom(int tier, long bytes) {
        Tier into = tiers.get(tier);
        long taken = into.usedBytes() + queues.get(tier).bytes() + reserved.bytes(tier);
        return into.isWritable() && taken + into.bytesOf(bytes) <= into.sampleRoomBytes();
    }

    /** Room in a tier for a sample that is still to be fetched; to be closed when it was. */
    public final class Room implements AutoCloseable {
        private final int file;
        private final int tier;

        private Room(int file, int tier) {
            this.file = file;
            this.tier = tier;
        }

        @Override
        public void close() {
            queues.get(tier).giveBack(file);
            reserved.giveBack(file);
        }
    }

    /**
     * Takes the room that a missing sample needs in its tier and on the way to it, for else it might be fetched and then dropped. Waits a moment for
     * samples that are on their way to a disk.
     *
     * @return null when it is not missing, somebody else has taken room for it, or there is none
     */
    @Nullable
    public Room reserve(int file, int tier) {
        long bytes = tree.entry(file).size();
        synchronized (reserved) { // else two might take the same room
            if (!isMissing(file, tier)
                    || !reserved.add(file, tier, tiers.get(tier).bytesOf(bytes))) {
                return null;
            }
        }
        Room room = new Room(file, tier);
        try {
            if (tier == MEMORY || queues.get(tier).reserve(file, bytes, LONGEST_WAIT_NS)) {
                return room;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        room.close();
        return null;
    }

    /** Whether the sample is to be brought to this tier, as the plan is now. */
    public boolean wants(int file, int tier) {
        int planned = plan.tierOf(file);
        return planned == tier || planned == LocalPlan.ANYWHERE;
    }

    /**
     * Once more for a sample that the plan wants on a disk whose queue was full: waits a moment for room, for else it would have to be fetched
     * again. The caller keeps its reference.
     */
    public void keepPatiently(int file, SampleBuffer sample) {
        int tier = plan.tierOf(file);
        if (tier <= MEMORY || !tiers.get(tier).isWritable() || isHere(file)) {
            return;
        }
        try {
            queues.get(tier).awaitRoom(sample.size(), LONGEST_WAIT_NS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        keepIn(tier, file, sample);
    }

    /** Whether it makes sense to fetch something for this tier now. */
    public boolean takesMore(int tier) {
        return tiers.get(tier).isWritable() && planned && queues.get(tier).takesMore();
    }

    /**
     * A sample was fetched. The caller keeps its reference.
     *
     * @param byReader whether a reader asked for it, rather than a prefetcher
     */
    public void fetched(int file, SampleBuffer sample, boolean byReader) {
        int planned = plan.tierOf(file);
        if (planned == LocalPlan.ANYWHERE) {
            keepWhereRoom(file, sample);
        } else if (planned != LocalPlan.NOWHERE) {
            keepIn(planned, file, sample);
        } else if (!keepCopy(file, sample) && byReader && !isHere(file)) {
            makingRoom(MEMORY, sample.size(), () -> memory.keepRecent(file, sample));
        }
    }

    /** The tier that is to hold the sample, as the plan says or as one of the copies that are kept by next use. */
    private int keptIn(int file) {
        LocalPlan now = plan;
        CopyRoom copies = now.copies();
        int planned = now.tierOf(file);
        return planned == LocalPlan.NOWHERE && copies != null ? copies.tierOf(file) : planned;
    }

    /** Keeps a sample with its home elsewhere if it is used here sooner than others. Returns whether it is to be kept. */
    private boolean keepCopy(int file, SampleBuffer sample) {
        CopyRoom copies = plan.copies();
        if (copies == null) {
            return false;
        }
        synchronized (copies) { // else what is kept here might have been evicted meanwhile by another thread
            int tier = copies.offer(file, this::drop);
            if (tier == LocalPlan.NOWHERE) {
                return false;
            }
            keepIn(tier, file, sample);
            return true;
        }
    }

    private void drop(int file) {
        for (int tier = 0; tier < tiers.size(); tier++) {
            if (tiers.get(tier).contains(file)) {
                tiers.get(tier).evict(file);
                holdings.gone(tier, file);
            }
        }
    }

    /** Tells of what tiers hold of the samples that have their home elsewhere. */
    void adoptInto(CopyRoom copies, IntPredicate isElsewhere) {
        for (int file = 0; file < tree.entryCount(); file++) {
            for (int tier = 0; tier < tiers.size(); tier++) {
                if (tiers.get(tier).contains(file) && isElsewhere.test(file)) {
                    copies.adopt(file, tier);
                    break;
                }
            }
        }
    }

    private void keepWhereRoom(int file, SampleBuffer sample) {
        for (int tier = 0; tier < tiers.size() && !isHere(file); tier++) {
            if (reserved.has(file, tier) || hasRoom(tier, sample.size())) {
                keepIn(tier, file, sample);
            }
        }
    }

    private void keepIn(int tier, int file, SampleBuffer sample) {
        if (tier == MEMORY) {
            put(tier, file, sample);
        } else if (!tiers.get(tier).contains(file) && queues.get(tier).offer(file, sample)) {
            queued.accept(tier);
        }
    }

    /** Writes the sample that has waited longest for this tier. Returns whether there was one. */
    public boolean writeNext(int tier) {
        KeepQueue queue = queues.get(tier);
        int file = queue.next();
        if (file == KeepQueue.NONE) {
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

    private void put(int tier, int file, SampleBuffer sample) {
        makingRoom(tier, sample.size(), () -> {
            boolean kept = tiers.get(tier).keep(file, sample);
            if (kept) {
                reserved.giveBack(file); // it is counted by the tier from now on
                holdings.kept(tier, file);
            }
            return kept;
        });
    }

    /** Tries until the sample is kept, each time at the cost of one that an older plan left in the tier, while there are any. */
    private void makingRoom(int tier, long bytes, BooleanSupplier keep) {
        while (!keep.getAsBoolean()) {
            int old = couldTake(tier, bytes) ? nextLeftover(tier) : LocalPlan.NOWHERE;
            if (old == LocalPlan.NOWHERE) {
                return;
            }
            tiers.get(tier).evict(old);
            holdings.gone(tier, old);
        }
    }

    /** Whether the tier would take so many bytes if it were empty. */
    private boolean couldTake(int tier, long bytes) {
        Tier into = tiers.get(tier);
        return into.isWritable() && into.bytesOf(bytes) <= into.sampleRoomBytes();
    }

    /** A file in this tier that the plan does not want there; each file is looked at once per plan. */
    private int nextLeftover(int tier) {
        AtomicInteger at = leftovers.get(tier);
        int end = tree.entryCount();
        while (at.get() < end) {
            int file = at.getAndIncrement();
            if (file < end && isUnwanted(file, tier) && tiers.get(tier).contains(file)) {
                return file;
            }
        }
        return LocalPlan.NOWHERE;
    }

    private boolean isUnwanted(int file, int tier) {
        int planned = keptIn(file);
        return planned != tier && planned != LocalPlan.ANYWHERE;
    }

    /** Drops what is on its way. */
    @Override
    public void close() {
        queues.forEach(KeepQueue::close);
    }
}
