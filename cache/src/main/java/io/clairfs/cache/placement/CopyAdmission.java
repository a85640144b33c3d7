package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;

/**
 * Admits copies of what the plan wants in memory to a slower tier too, where that has room that nothing else needs. To the plan they are
 * leftovers of that tier. Thread-safe; keeps nothing, and has no lock of its own.
 */
public final class CopyAdmission {
    private static final int MEMORY = ResidentSamples.MEMORY;

    private final DatasetTree tree;
    private final Admission admission;
    private final ResidentSamples residents;
    private final TierRoom room;

    CopyAdmission(DatasetTree tree, Admission admission, TierRoom room) {
        this.tree = tree;
        this.admission = admission;
        residents = admission.residents();
        this.room = room;
    }

    /** The outcome of copying a sample to a slower tier as well. */
    public enum Outcome {
        QUEUED,
        /** The tier, or another slower one, has it, or the plan does not want it in memory. */
        NOT_NEEDED,
        /** It is not in memory yet, or there is no room. */
        NOT_NOW
    }

    /** Where a slower tier could hold copies of what the plan wants in memory. */
    public enum Room {
        /** Beside all that the plan wants there. */
        FOR_ALL,
        /** In what is left over, until the plan needs it. */
        SPARE,
        /** The medium has less room than the tier may take, so a copy could keep out what the plan wants. */
        NONE
    }

    /** The room of a slower tier for copies under this plan. Looks at each sample of the plan. */
    public Room room(LocalPlan of, int tier) {
        Tier into = residents.tier(tier);
        long bytes = 0;
        for (int from : new int[] {MEMORY, tier}) {
            for (int file : of.fillOrder(from)) {
                bytes += into.bytesOf(tree.keptSize(file));
            }
        }
        long most = into.sampleRoomBytes();
        if (!into.mayGrowBy(Math.max(0, Math.min(bytes, most) - into.usedBytes()))) {
            return Room.NONE;
        }
        return bytes <= most ? Room.FOR_ALL : Room.SPARE;
    }

    /**
     * Has a sample that the plan wants in memory written to a slower tier too, if that has room that nothing else needs. Waits for nothing.
     * Where replicas have that room, nothing is copied.
     */
    public Outcome copy(int file, int tier) {
        if (admission.plan().tierOf(file) != MEMORY
                || admission.plan().copies() != null
                || residents.isBelowMemory(file)) {
            return Outcome.NOT_NEEDED;
        }
        long bytes = tree.keptSize(file);
        if (!admission.takesMore(tier)
                || !room.isFree(tier, bytes)
                || !residents.tier(tier).mayGrowBy(bytes)) {
            return Outcome.NOT_NOW;
        }
        SampleBuffer sample = residents.fromMemory(file);
        if (sample == null) {
            return Outcome.NOT_NOW;
        }
        try {
            return residents.queue(tier).offer(file, sample) ? Outcome.QUEUED : Outcome.NOT_NOW;
        } finally {
            sample.release();
        }
    }
}
