package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.plan.FurtherCopies;
import io.clairfs.cache.plan.NextUse;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.SampleSizes;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import java.util.function.IntSupplier;

/**
 * The room of this node's tiers that homes leave, filled with replicas of samples with their home on another node: those that are read here
 * soonest ({@link FurtherCopies}), each in the fastest tier that has room when it comes.
 *
 * <p>A sample is judged whenever it is fetched, from memory or from elsewhere, for a use that is about to come: the use after that one
 * counts. The table of uses covers some epochs; before they are over, a new plan brings a new table.
 */
public final class ReplicaSpace {
    private static final int EPOCHS_LEFT = 4;

    private final FileNumbers numbers;
    private final SampleSizes sizes;
    private final FurtherCopies kept;
    private final NextUse uses;
    private final IntSupplier epoch;
    private final boolean reachesTheEnd;
    private final List<StorageClass> tiers;
    private final IntPredicate isKnown;
    private final long[] left;
    private final byte[] tierOf;

    /**
     * An empty one.
     *
     * @param sizes by number
     * @param room the room of each tier for replicas, as its capacity
     * @param uses of the ranks that read here
     * @param epoch in which they are
     * @param endEpoch the end of their job, exclusive
     * @param isKnown whether the order of an epoch can be computed
     */
    ReplicaSpace(
            FileNumbers numbers,
            SampleSizes sizes,
            NodeStorage room,
            NextUse uses,
            IntSupplier epoch,
            int firstEpoch,
            int endEpoch,
            IntPredicate isKnown) {
        this.isKnown = isKnown;
        this.numbers = numbers;
        this.sizes = sizes;
        this.uses = uses;
        this.epoch = epoch;
        tiers = room.classes();
        left = tiers.stream().mapToLong(StorageClass::capacityBytes).toArray();
        kept = new FurtherCopies(
                numbers.count(),
                number -> room.bytesOf(sizes.bytes(number)),
                Arrays.stream(left).sum(),
                firstEpoch);
        tierOf = new byte[numbers.count()];
        Arrays.fill(tierOf, (byte) LocalPlan.NOWHERE);
        reachesTheEnd = uses.endEpoch() >= endEpoch;
    }

    /** Whether the table of uses ends soon, before the job does, and a new one would reach further. */
    boolean isStale() {
        return !reachesTheEnd && epoch.getAsInt() >= uses.endEpoch() - EPOCHS_LEFT && isKnown.test(uses.endEpoch());
    }

    /** The tier that keeps a replica of this file, or {@link LocalPlan#NOWHERE}. */
    synchronized int tierOf(int file) {
        int number = numbers.numberOf(file);
        return number == FileNumbers.NONE ? LocalPlan.NOWHERE : tierOf[number];
    }

    /**
     * Offers a file with its home elsewhere that is in hand for a use about to come.
     *
     * @param gone told the files that leave, perhaps this one itself, before this returns
     * @return the tier that should keep it, or {@link LocalPlan#NOWHERE}
     */
    synchronized int offer(int file, IntConsumer gone) {
        int number = numbers.numberOf(file);
        if (number == FileNumbers.NONE) {
            return LocalPlan.NOWHERE;
        }
        int use = uses.after(epoch.getAsInt() - 1, number);
        return offer(number, use == NextUse.NEVER ? use : due(use, number), gone);
    }

    /** Takes over a file that a tier held before this space was made. */
    synchronized void adopt(int file, int tier) {
        int number = numbers.numberOf(file);
        if (number != FileNumbers.NONE && bytesIn(tier, number) <= left[tier]) {
            int due = due(epoch.getAsInt() - 1, number);
            if (due != NextUse.NEVER && kept.offer(number, due, _ -> false, _ -> {})) {
                tierOf[number] = (byte) tier;
                left[tier] -= bytesIn(tier, number);
            }
        }
    }

    /**
     * Gives up a replica in this tier that is used late, for a sample that is worth more. The caller evicts it.
     *
     * @param mayGo whether a file may go
     * @return its file, or {@link Eviction#NONE}
     */
    synchronized int giveUp(int tier, IntPredicate mayGo) {
        int number = kept.latest(victim -> tierOf[victim] == tier && mayGo.test(numbers.fileOf(victim)));
        if (number == FurtherCopies.NONE) {
            return Eviction.NONE;
        }
        kept.remove(number);
        release(number);
        return numbers.fileOf(number);
    }

    /**
     * The tier that should keep a replica of a file did not take it.
     *
     * @return the next slower one that has room, which should keep it; {@link LocalPlan#NOWHERE} where none has: it is counted no longer
     */
    synchronized int demote(int file) {
        int number = numbers.numberOf(file);
        if (number == FileNumbers.NONE || tierOf[number] == LocalPlan.NOWHERE) {
            return LocalPlan.NOWHERE;
        }
        int slower = tierOf[number] + 1;
        release(number);
        return place(number, slower);
    }

    /** Takes back that this tier should keep a replica of a file: it is not there. */
    synchronized void takeBack(int file, int tier) {
        int number = numbers.numberOf(file);
        if (number != FileNumbers.NONE && tierOf[number] == tier) {
            kept.remove(number);
            release(number);
        }
    }

    private long bytesIn(int tier, int number) {
        return tiers.get(tier).bytesOf(sizes.bytes(number));
    }

    /** A use after the table's end counts as due there. */
    private int due(int after, int number) {
        int due = uses.after(after, number);
        return due == NextUse.NEVER && !reachesTheEnd ? uses.endEpoch() : due;
    }

    private int offer(int number, int due, IntConsumer gone) {
        boolean keep = kept.offer(number, due, victim -> {
            release(victim);
            gone.accept(numbers.fileOf(victim));
        });
        if (!keep) {
            if (tierOf[number] != LocalPlan.NOWHERE) {
                release(number);
                gone.accept(numbers.fileOf(number));
            }
            return LocalPlan.NOWHERE;
        }
        return place(number, 0);
    }

    /** Counts a sample in the fastest tier from this one on that has room, unless it is counted already. */
    private int place(int number, int fastest) {
        for (int tier = fastest; tierOf[number] == LocalPlan.NOWHERE && tier < left.length; tier++) {
            if (bytesIn(tier, number) <= left[tier]) {
                tierOf[number] = (byte) tier;
                left[tier] -= bytesIn(tier, number);
            }
        }
        if (tierOf[number] == LocalPlan.NOWHERE) {
            kept.remove(number); // its room is there only in pieces
        }
        return tierOf[number];
    }

    private void release(int number) {
        left[tierOf[number]] += bytesIn(tierOf[number], number);
        tierOf[number] = (byte) LocalPlan.NOWHERE;
    }
}
