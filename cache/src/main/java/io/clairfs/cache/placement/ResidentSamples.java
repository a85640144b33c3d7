package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.plan.request.Held;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.StoredSample;
import io.clairfs.cache.tier.Tier;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The samples that are resident on this node: held by a tier, or in its write-back queue. A sample is named by the number of its file, a
 * tier by its rank from the fastest (0 is memory).
 *
 * <p>It tells a listener what comes and goes, for other nodes. Thread-safe; has no lock of its own.
 */
public final class ResidentSamples {
    /** The fastest tier. */
    static final int MEMORY = 0;

    private final DatasetTree tree;
    private final MemoryTier memory;
    private final List<Tier> tiers;
    private final List<WriteBackQueue> queues;
    private volatile ResidencyListener holdings = ResidencyListener.UNTOLD;

    /**
     * The samples of {@code memory} and of {@code slower} tiers, fastest first.
     *
     * @param queueBytes the bound of the write-back queue of each slower tier
     */
    ResidentSamples(DatasetTree tree, MemoryTier memory, List<? extends Tier> slower, long queueBytes) {
        this.tree = tree;
        this.memory = memory;
        tiers = Stream.concat(Stream.of(memory), slower.stream()).toList();
        queues = tiers.stream().map(_ -> new WriteBackQueue(queueBytes)).toList();
    }

    /** The tiers of this node, fastest first. */
    public List<Tier> tiers() {
        return tiers;
    }

    Tier tier(int tier) {
        return tiers.get(tier);
    }

    /** The write-back queue of a tier; always empty for memory. */
    WriteBackQueue queue(int tier) {
        return queues.get(tier);
    }

    /** Tells {@code listener} from now on what is kept and evicted here. */
    public void tell(ResidencyListener listener) {
        holdings = listener;
    }

    /** Tells the listener again of all samples here that others may count on. */
    public void tellAll() {
        int files = tree.entryCount();
        for (int tier = 0; tier < tiers.size(); tier++) {
            for (int file = 0; file < files; file++) {
                if (isForOthers(tier, file)) {
                    tellAsItIs(tier, file);
                }
            }
        }
    }

    /** Whether other nodes are told of it. Memory may drop what it keeps for recent readers at any time, and tells nobody. */
    private boolean isForOthers(int tier, int file) {
        return tier == MEMORY ? memory.isPinned(file) : tiers.get(tier).contains(file);
    }

    /** Whether the sample may be evicted without being lost to other nodes: one of them holds it too, or there is none. */
    boolean isElsewhere(int file) {
        return holdings.isElsewhere(file);
    }

    /** Takes back what was told of a sample that turned out not to be here. */
    public void tellGone(int file) {
        for (int tier = 0; tier < tiers.size(); tier++) {
            tellIfGone(tier, file);
        }
    }

    private void tellIfGone(int tier, int file) {
        if (!isForOthers(tier, file)) {
            tellAsItIs(tier, file);
        }
    }

    /**
     * Tells what is true of the sample when this returns, or what whoever has changed it meanwhile finds and tells after that. Without the second look, one
     * thread that keeps a sample and one that evicts it could tell in the other order, and nobody would look again.
     */
    private void tellAsItIs(int tier, int file) {
        boolean isHere = isForOthers(tier, file);
        boolean told;
        do {
            if (isHere) {
                holdings.kept(tier, file);
            } else {
                holdings.gone(tier, file);
            }
            told = isHere;
            isHere = isForOthers(tier, file);
        } while (told != isHere);
    }

    /** The sample if it is in memory or in a write-back queue, with a reference for the caller. */
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

    /** The sample as it lies in a file, to serve it; null if it cannot be sent from there without a wait. */
    public @Nullable StoredSample openStored(int file) {
        for (int tier = 1; tier < tiers.size(); tier++) {
            StoredSample stored = tiers.get(tier).openStored(file);
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

    /** Whether {@link #readStored} may wait for the source, too: the sample may still have to be compared with it. */
    public boolean mayAskSource(int file) {
        for (int tier = 1; tier < tiers.size(); tier++) {
            if (tiers.get(tier).mayAskSource(file)) {
                return true;
            }
            if (tiers.get(tier).contains(file)) { // no further tier is asked
                return false;
            }
        }
        return false;
    }

    /** Whether the sample is resident, as far as can be told without reading it. */
    public boolean isHere(int file) {
        return tierOf(file) >= 0;
    }

    /** The fastest tier that holds the sample or queues it, negative for none. */
    int tierOf(int file) {
        for (int tier = 0; tier < tiers.size(); tier++) {
            if (isIn(tier, file)) {
                return tier;
            }
        }
        return Held.NOT_HELD;
    }

    /** Whether a tier holds the sample or queues it. It is in the tier before it leaves the queue, so the queue is asked first. */
    boolean isIn(int tier, int file) {
        return queues.get(tier).contains(file) || tiers.get(tier).contains(file);
    }

    /** The same, but memory has to hold it for good, and not just because it was read a moment ago. */
    boolean isKept(int tier, int file) {
        return tier == MEMORY ? memory.isPinned(file) : isIn(tier, file);
    }

    /** Whether a slower tier holds the sample or queues it. */
    boolean isBelowMemory(int file) {
        for (int tier = 1; tier < tiers.size(); tier++) {
            if (isIn(tier, file)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the sample is in memory or in a write-back queue. */
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

    /** Puts a sample into a tier. Returns whether it is there now; false where there is no room. */
    boolean keep(int tier, int file, SampleBuffer sample) {
        boolean kept = tiers.get(tier).keep(file, sample);
        if (kept) {
            tellAsItIs(tier, file);
        }
        return kept;
    }

    /** Keeps a sample in memory for a reader that soon comes again. Returns whether it is there now. */
    boolean keepRecent(int file, SampleBuffer sample) {
        return memory.keepRecent(file, sample);
    }

    void evict(int tier, int file) {
        tiers.get(tier).evict(file);
        tellAsItIs(tier, file);
    }

    /** Has {@code copies} adopt the samples in tiers that have their home elsewhere. */
    void adoptInto(ReplicaSpace copies, IntPredicate isElsewhere) {
        for (int file = 0; file < tree.entryCount(); file++) {
            for (int tier = 0; tier < tiers.size(); tier++) {
                if (tiers.get(tier).contains(file) && isElsewhere.test(file)) {
                    copies.adopt(file, tier);
                    break;
                }
            }
        }
    }

    /** Drops what the write-back queues hold. */
    void close() {
        queues.forEach(WriteBackQueue::close);
    }
}
