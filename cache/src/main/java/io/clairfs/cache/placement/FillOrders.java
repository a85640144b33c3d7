package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * The order in which the tiers of a node are filled: that of the reads from where the trainers are, jobs taking turns.
 *
 * <p>A plan knows the order of first use from the epoch in which it begins. Where trainers have gone on since, or there are several jobs,
 * the orders are walked once more, on the planner's thread, until all planned files were met, over two epochs at most. Files that the
 * trainers do not read in these come last, in the plan's order.
 */
public final class FillOrders {
    /** How many epochs are walked: the rest of one and the next cover a dataset. */
    private static final int EPOCHS = 2;

    private FillOrders() {}

    /**
     * The reads of one job.
     *
     * @param ranks whose reads count
     * @param plannedFrom where the plan for it begins, as an {@link AccessStream#position}
     */
    public record Reading(JobRun job, int[] ranks, long plannedFrom) {
        public Reading {
            ranks = ranks.clone();
        }

        /** The ranks of this node, in a plan of its own. */
        public static Reading here(JobRun job, long plannedFrom) {
            int first = job.spec().firstRank();
            int[] ranks = new int[job.streams()];
            Arrays.setAll(ranks, stream -> first + stream);
            return new Reading(job, ranks, plannedFrom);
        }
    }

    /**
     * The order for each tier of a plan.
     *
     * @param planned by tier, the files that it should hold, in the plan's order
     * @param tierOf the tier that should hold a file, negative for none
     * @throws InvalidSpecException when an order cannot be computed
     */
    public static int[][] of(int[][] planned, IntUnaryOperator tierOf, List<Reading> readings)
            throws InvalidSpecException {
        int left = Arrays.stream(planned).mapToInt(each -> each.length).sum();
        if (left == 0 || readings.isEmpty() || isAtItsBeginning(readings)) {
            return planned;
        }
        int[][] order = Arrays.stream(planned).map(each -> new int[each.length]).toArray(int[][]::new);
        int[] count = new int[planned.length];
        BitSet seen = new BitSet();
        List<Walk> walks = walks(readings, EPOCHS);
        for (int turn = 0; left > 0 && !walks.isEmpty(); ) {
            Walk walk = walks.get(turn % walks.size());
            int file = walk.next();
            if (file == Walk.END) {
                walks.remove(walk);
            } else if (tierOf.applyAsInt(file) >= 0 && !seen.get(file)) {
                turn++;
                seen.set(file);
                int tier = tierOf.applyAsInt(file);
                order[tier][count[tier]++] = file;
                left--;
            }
        }
        for (int tier = 0; tier < planned.length; tier++) {
            for (int file : planned[tier]) {
                if (!seen.get(file)) {
                    order[tier][count[tier]++] = file;
                }
            }
        }
        return order;
    }

    /** Whether the plan's order still holds. */
    private static boolean isAtItsBeginning(List<Reading> readings) {
        Reading only = readings.getFirst();
        return readings.size() == 1 && only.job.position() == only.plannedFrom;
    }

    /** The files that the ranks of this node read until the end of their trainers' epochs, each once. */
    static int[] ofThisEpoch(List<JobRun> jobs) throws InvalidSpecException {
        List<Walk> walks = walks(jobs.stream().map(job -> Reading.here(job, 0)).toList(), 1);
        int[] order = new int[1024];
        int count = 0;
        BitSet seen = new BitSet();
        for (int turn = 0; !walks.isEmpty(); ) {
            Walk walk = walks.get(turn % walks.size());
            int file = walk.next();
            if (file == Walk.END) {
                walks.remove(walk);
            } else if (!seen.get(file)) {
                turn++;
                seen.set(file);
                order = count == order.length ? Arrays.copyOf(order, 2 * count) : order;
                order[count++] = file;
            }
        }
        return Arrays.copyOf(order, count);
    }

    private static List<Walk> walks(List<Reading> readings, int epochs) {
        List<Walk> walks = new ArrayList<>();
        for (Reading reading : readings) {
            long position = reading.job.position();
            if (position != AccessStream.END && reading.ranks.length > 0) {
                walks.add(new Walk(reading, position, epochs));
            }
        }
        return walks;
    }

    /** The files of one job in the order in which its ranks read them: the first step of all ranks, then the second, and so on. */
    private static final class Walk {
        static final int END = -1;

        private final JobRun job;
        private final int[] ranks;
        private final int[] lengths;
        private final int endEpoch;
        private EpochOrder order;
        private int epoch;
        private int step;
        private int at;
        private int longest = -1;

        Walk(Reading reading, long position, int epochs) {
            job = reading.job;
            ranks = reading.ranks;
            lengths = new int[ranks.length];
            epoch = AccessStream.epoch(position);
            step = AccessStream.step(position);
            endEpoch = (int) Math.min((long) epoch + epochs, job.spec().epochs());
            order = EpochOrder.of(new int[0]);
        }

        int next() throws InvalidSpecException {
            while (epoch < endEpoch) {
                if (longest < 0 && !begin()) {
                    return END;
                }
                if (step >= longest) {
                    epoch++;
                    step = 0;
                    longest = -1;
                    continue;
                }
                int rank = at;
                int now = step;
                at = at + 1 == ranks.length ? 0 : at + 1;
                step += at == 0 ? 1 : 0;
                if (now < lengths[rank]) {
                    int file = job.index().file(order.sample(ranks[rank], now));
                    if (file != SampleIndex.NO_FILE) {
                        return file;
                    }
                }
            }
            return END;
        }

        /** Looks at the epoch's order; false while it cannot be computed. */
        private boolean begin() throws InvalidSpecException {
            try {
                order = job.plannerOrders().peek(epoch);
            } catch (InvalidSpecException e) {
                return false;
            }
            Arrays.setAll(lengths, i -> order.length(ranks[i]));
            longest = Arrays.stream(lengths).max().orElse(0);
            return true;
        }
    }
}
