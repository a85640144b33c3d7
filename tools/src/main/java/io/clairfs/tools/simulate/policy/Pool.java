package io.clairfs.tools.simulate.policy;

import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * The threads of one node that fill its classes with {@code clairfs}: they form one pool, and fetch from the source, in one order, what staging has
 * not fetched before. A sample goes to its class as fast as the class can be written; meanwhile the pool fetches for other classes.
 *
 * <p>Where threads share the node's connection to the source ({@link Costs#isSourceShared}) the pool gives way to staging, as the daemon's
 * fillers do. A sample whose fetch begins before a moment counts as present at that moment.
 */
final class Pool {
    private final Costs costs;
    private final int[] sizes;
    private final IntPredicate filler;
    private final IntList[] lists;
    private final IntList[] turns;
    private final int[] next;
    /** By class, when the writes of the samples that were fetched for it end. */
    private final double[] written;

    private final double[] write;
    private final int threads;
    private int added;
    private double clock;
    private double atSource;

    /** {@code filler} is told each sample that is reached; it says whether the sample is still to be fetched. */
    Pool(Setup setup, IntPredicate filler) {
        costs = setup.costs();
        sizes = setup.load().sizes();
        this.filler = filler;
        lists = new IntList[setup.classes()];
        turns = new IntList[setup.classes()];
        Arrays.setAll(lists, _ -> new IntList());
        Arrays.setAll(turns, _ -> new IntList());
        next = new int[lists.length];
        written = new double[lists.length];
        write = new double[lists.length];
        int all = 0;
        for (int j = 0; j < lists.length; j++) {
            write[j] = costs.writeTo(j) / setup.threads(j);
            all += setup.threads(j);
        }
        threads = Math.max(1, all);
    }

    /** Appends a sample for this class. */
    void add(int storageClass, int sample) {
        lists[storageClass].add(sample);
        turns[storageClass].add(added++);
    }

    /** Staging fetched so many bytes from the source. */
    void giveWay(long bytes) {
        if (costs.isSourceShared()) {
            clock += bytes * costs.ofConnection();
        }
    }

    /** Performs the fetches that begin before this time. */
    void advance(double seconds, boolean hungry) {
        if (hungry && costs.isSourceShared()) {
            clock = Math.max(clock, seconds);
            return;
        }
        for (int j = first(seconds); j >= 0; j = first(seconds)) {
            int sample = lists[j].get(next[j]++);
            if (filler.test(sample)) {
                clock = Math.max(clock, written[j]);
                double each = costs.isSourceShared() ? costs.ofConnection() : costs.fetch(costs.source()) / threads;
                double fetch = sizes[sample] * each;
                written[j] = clock + Math.max(fetch, sizes[sample] * write[j]);
                clock += fetch;
                atSource += fetch;
            }
        }
        clock = Math.max(clock, seconds);
    }

    /** The class whose next sample comes first among those that can be written soonest; -1 if none begins before this time. */
    private int first(double seconds) {
        int first = -1;
        double soonest = seconds;
        for (int j = 0; j < lists.length; j++) {
            double begins = Math.max(clock, written[j]);
            if (next[j] < lists[j].length()
                    && (begins < soonest
                            || (first >= 0
                                    && begins == soonest
                                    && turns[j].get(next[j]) < turns[first].get(next[first])))) {
                first = j;
                soonest = begins;
            }
        }
        return first;
    }

    /** Seconds at the source since the last call. */
    double takeSecondsAtSource() {
        double seconds = atSource;
        atSource = 0;
        return seconds;
    }
}
