package io.clairfs.cache.seed;

import io.clairfs.cache.order.EpochOrder;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * The order of a training's first epoch, and whether the second repeats it. For one thread.
 *
 * <p>Each reader's samples are an order by themselves: how the readers of a loader take turns is chance, what each of them reads is not. A read
 * fits when it continues the reads of the same reader. In an unpredictable order a read does so for any of the readers with a probability of at
 * most readers x steps / samples that are left, which {@link Chance} adds up.
 *
 * <p>Four bytes for each sample.
 */
public final class RepeatedOrder {
    /** What the reads so far tell. */
    public enum Verdict {
        /** Too little. */
        OPEN,
        /** They repeat the order. */
        REPEATS,
        /** They do not. */
        CONTRADICTED
    }

    /** Readers of fewer samples are none of the loader's. */
    private static final int FEWEST_OF_READER = 16;

    private static final int FEWEST = 32;
    private static final int MOST = 1024;
    private static final double REPEATED = 0.9;
    private static final double CONTRADICTED = 0.5;

    /** How far a read may be from where its reader is expected: reports of reads are lost now and then. */
    private static final int STEPS = 8;

    private static final int UNREAD = -1;

    /** Below this, a place stands for a reader whose places are not counted yet. */
    private static final int OF_READER = -2;

    /** By sample: its place in the parts of the readers, one behind the other. */
    private final int[] places;

    /** Where the part of each reader begins; the last one is the end of all. */
    private final int[] begins;

    /** Where each reader is expected. */
    private final int[] next;

    private int reads;
    private int fits;

    private RepeatedOrder(int[] places, int[] begins) {
        this.places = places;
        this.begins = begins;
        next = Arrays.copyOf(begins, begins.length - 1);
    }

    /**
     * The order of an epoch; a sample that was asked for twice counts once.
     *
     * @param samples how many samples the dataset has
     * @param sampleOf gives the index of a file's sample; negative for none
     */
    public static RepeatedOrder of(FirstEpoch epoch, int samples, IntUnaryOperator sampleOf) {
        int[] places = new int[samples];
        Arrays.fill(places, UNREAD);
        int[] counts = new int[FirstEpoch.MOST_READERS];
        int count = epoch.count();
        for (int at = 0; at < count; at++) {
            int sample = sample(epoch, at, sampleOf);
            if (sample >= 0 && places[sample] == UNREAD) {
                places[sample] = OF_READER - epoch.reader(at);
                counts[epoch.reader(at)]++;
            }
        }
        int kept = 0;
        int[] begins = new int[FirstEpoch.MOST_READERS + 1];
        int[] next = new int[FirstEpoch.MOST_READERS];
        Arrays.fill(next, UNREAD);
        for (int reader = 0; reader < counts.length; reader++) {
            if (counts[reader] >= FEWEST_OF_READER) {
                next[reader] = begins[kept];
                begins[kept + 1] = begins[kept] + counts[reader];
                kept++;
            }
        }
        for (int at = 0; at < count; at++) {
            int sample = sample(epoch, at, sampleOf);
            if (sample >= 0 && places[sample] <= OF_READER) {
                int reader = OF_READER - places[sample];
                places[sample] = next[reader] == UNREAD ? UNREAD : next[reader]++;
            }
        }
        return new RepeatedOrder(places, Arrays.copyOf(begins, kept + 1));
    }

    private static int sample(FirstEpoch epoch, int at, IntUnaryOperator sampleOf) {
        int file = epoch.file(at);
        return file < 0 ? -1 : sampleOf.applyAsInt(file);
    }

    /** How many readers it has. */
    public int readers() {
        return next.length;
    }

    /** How many samples it has. */
    public int length() {
        return begins[begins.length - 1];
    }

    /** How many reads fit so far. */
    public int fits() {
        return fits;
    }

    /** How many reads were compared so far. */
    public int reads() {
        return reads;
    }

    /** A bound on the probability that so many reads of an unpredictable order fit. */
    public double chance() {
        return length() <= reads ? 1 : Chance.ofFirst(length() - reads, reads, fits, readers() * (2 * STEPS + 1));
    }

    /** The next read of the second epoch. */
    public Verdict read(int sample) {
        reads++;
        int place = places[sample];
        if (place >= 0) {
            int found = Arrays.binarySearch(begins, place);
            int reader = found >= 0 ? found : -found - 2;
            int apart = place - next[reader];
            boolean fit = apart >= -STEPS && apart <= STEPS;
            fits += fit ? 1 : 0;
            next[reader] = fit ? Math.max(next[reader], place + 1) : place + 1;
        }
        if (reads < FEWEST) {
            return Verdict.OPEN;
        }
        if (fits < CONTRADICTED * reads) {
            return Verdict.CONTRADICTED;
        }
        if (fits >= REPEATED * reads && chance() < Chance.MOST) {
            return Verdict.REPEATS;
        }
        return reads < MOST ? Verdict.OPEN : Verdict.CONTRADICTED;
    }

    /** The order, each reader's samples as those of a rank. */
    public EpochOrder order() {
        int[] samples = new int[length()];
        for (int sample = 0; sample < places.length; sample++) {
            if (places[sample] >= 0) {
                samples[places[sample]] = sample;
            }
        }
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return begins[rank + 1] - begins[rank];
            }

            @Override
            public int sample(int rank, int step) {
                return samples[begins[rank] + step];
            }
        };
    }
}
