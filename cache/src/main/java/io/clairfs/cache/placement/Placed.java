package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.policy.Placement;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A placement as one of its nodes follows it.
 *
 * @param self this node's number in the placement
 * @param numbers of the files in the placement; null where they are the tree's own
 * @param nodes by number; none where the node plans for itself
 * @param copies the room for replicas where the placement does not name them
 * @param between the room between trainings of one order, or null
 * @param readings the reads that the tiers are filled for
 * @param leftOut the jobs that are not planned for
 * @param exchange where samples move with their readers, while there is a next epoch; else null
 * @param isOver whether the jobs' orders are known further than the placement looks, and are needed
 * @param order by tier, the files to fill it with
 */
record Placed(
        Placement placement,
        int self,
        @Nullable FileNumbers numbers,
        List<UUID> nodes,
        long digest,
        @Nullable ReplicaSpace copies,
        @Nullable BetweenTrainings between,
        List<FillOrders.Reading> readings,
        List<String> leftOut,
        @Nullable Exchange exchange,
        BooleanSupplier isOver,
        int[][] order)
        implements LocalPlan {

    /** The same, with its tiers filled from where the trainers are now. */
    Placed filledFromHere(int tiers) throws InvalidSpecException {
        int[][] planned = new int[tiers][];
        for (int tier = 0; tier < tiers; tier++) {
            planned[tier] = Arrays.stream(placement.fillOrder(self, tier))
                    .filter(this::isNamed)
                    .map(number -> numbers == null ? number : numbers.fileOf(number))
                    .toArray();
        }
        int[][] now = FillOrders.of(planned, this::tierOf, readings);
        return new Placed(
                placement, self, numbers, nodes, digest, copies, between, readings, leftOut, exchange, isOver, now);
    }

    private int number(int file) {
        return numbers != null ? numbers.numberOf(file) : file < placement.samples() ? file : FileNumbers.NONE;
    }

    private boolean isNamed(int number) {
        return copies == null || placement.home(number) == self;
    }

    @Override
    public int tierOf(int file) {
        int number = number(file);
        return number != FileNumbers.NONE && isNamed(number) ? placement.storageClass(self, number) : NOWHERE;
    }

    @Override
    public @Nullable UUID homeOf(int file) {
        int number = nodes.isEmpty() ? FileNumbers.NONE : number(file);
        int home = number == FileNumbers.NONE ? Placement.NONE : placement.home(number);
        return home == Placement.NONE ? null : nodes.get(home);
    }

    @Override
    public int[] fillOrder(int tier) {
        return tier < order.length ? order[tier] : new int[0];
    }

    @Override
    public boolean covers(JobRun job) {
        return readings.stream().anyMatch(reading -> reading.job().equals(job));
    }

    @Override
    public boolean isStale() {
        return isOver.getAsBoolean() || LocalPlan.super.isStale();
    }
}
