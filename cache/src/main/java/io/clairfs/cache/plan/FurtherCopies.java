package io.clairfs.cache.plan;

import io.clairfs.cache.plan.request.SampleSizes;
import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * Decides at run time which samples a node keeps in the room that homes leave: those that it uses soonest (Belady; the reuse
 * distance policy of Lobster section 4.4). A sample that is not used again goes (the reuse count policy).
 *
 * <p>Due epochs are the key: samples due in one epoch form a list, linked through two integers per sample, and the list that is due last
 * gives its oldest member up first. So each decision takes a few steps. A copy that the caller must not lose is either kept out of here, as
 * homes are, or exempted by the caller's rule. Not thread-safe.
 */
public final class FurtherCopies {
    /** In place of a sample. */
    public static final int NONE = -1;

    private static final int ABSENT = -2;
    private static final int END = -1;
    /** How many members of the list due last are tried against the caller's rule. */
    private static final int MOST_TRIED = 64;

    private final SampleSizes sizes;
    private final int firstEpoch;
    private final int[] previous;
    private final int[] next;
    private final int[] due;
    private int[] oldest = new int[0];
    private int[] newest = new int[0];
    private int last = -1;
    private long capacityBytes;
    private long usedBytes;

    /**
     * Starts empty.
     *
     * @param samples how many; they are numbered from 0
     * @param capacityBytes for further copies
     * @param firstEpoch the first in which anything is due
     */
    public FurtherCopies(int samples, SampleSizes sizes, long capacityBytes, int firstEpoch) {
        this.sizes = sizes;
        this.capacityBytes = capacityBytes;
        this.firstEpoch = firstEpoch;
        previous = new int[samples];
        next = new int[samples];
        due = new int[samples];
        Arrays.fill(due, ABSENT);
    }

    /** As {@link #offer(int, int, IntPredicate, IntConsumer)}, where any copy may go. */
    public boolean offer(int sample, int dueEpoch, IntConsumer evicted) {
        return offer(sample, dueEpoch, _ -> true, evicted);
    }

    /**
     * Offers a sample in hand that the node uses again in {@code dueEpoch}, or {@link NextUse#NEVER}. A sample that is kept already is only
     * filed anew, or goes.
     *
     * @param mayGo whether the copy of a sample may be evicted for another one
     * @param evicted told the samples that go, before this returns; none when the offer is refused
     * @return whether the sample should be kept
     */
    public boolean offer(int sample, int dueEpoch, IntPredicate mayGo, IntConsumer evicted) {
        if (contains(sample)) {
            remove(sample);
        }
        long size = sizes.bytes(sample);
        if (dueEpoch == NextUse.NEVER || size > capacityBytes) {
            return false;
        }
        int list = Math.max(0, dueEpoch - firstEpoch);
        if (!makeRoom(size, list, mayGo, evicted)) {
            return false;
        }
        append(sample, list, size);
        return true;
    }

    private boolean makeRoom(long size, int list, IntPredicate mayGo, IntConsumer evicted) {
        long missing = usedBytes + size - capacityBytes;
        if (missing <= 0) {
            return true;
        }
        int[] victims = new int[4];
        int count = 0;
        int from = last;
        int candidate = from < 0 ? END : oldest[from];
        for (int tried = 0; missing > 0 && tried < MOST_TRIED; ) {
            while (candidate == END && from > list) {
                from--;
                candidate = from < 0 ? END : oldest[from];
            }
            if (from <= list || candidate == END) {
                return false;
            }
            if (mayGo.test(candidate)) {
                victims = count == victims.length ? Arrays.copyOf(victims, 2 * count) : victims;
                victims[count++] = candidate;
                missing -= sizes.bytes(candidate);
            } else {
                tried++;
            }
            candidate = next[candidate];
        }
        if (missing > 0) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            remove(victims[i]);
            evicted.accept(victims[i]);
        }
        return true;
    }

    /**
     * One of the samples that are due last and may go, or {@link #NONE}; it stays.
     *
     * @param mayGo whether the copy of a sample may be evicted; asked for a few
     */
    public int latest(IntPredicate mayGo) {
        int tried = 0;
        for (int list = last; list >= 0; list--) {
            for (int sample = oldest[list]; sample != END; sample = next[sample]) {
                if (mayGo.test(sample)) {
                    return sample;
                }
                if (++tried == MOST_TRIED) {
                    return NONE;
                }
            }
        }
        return NONE;
    }

    private void append(int sample, int list, long size) {
        if (list >= oldest.length) {
            int length = oldest.length;
            oldest = Arrays.copyOf(oldest, Math.max(list + 1, 2 * length));
            newest = Arrays.copyOf(newest, oldest.length);
            Arrays.fill(oldest, length, oldest.length, END);
            Arrays.fill(newest, length, newest.length, END);
        }
        due[sample] = list;
        previous[sample] = newest[list];
        next[sample] = END;
        if (newest[list] == END) {
            oldest[list] = sample;
        } else {
            next[newest[list]] = sample;
        }
        newest[list] = sample;
        last = Math.max(last, list);
        usedBytes += size;
    }

    /** The node no longer has this sample here, for any reason. */
    public void remove(int sample) {
        if (!contains(sample)) {
            return;
        }
        int list = due[sample];
        if (previous[sample] == END) {
            oldest[list] = next[sample];
        } else {
            next[previous[sample]] = next[sample];
        }
        if (next[sample] == END) {
            newest[list] = previous[sample];
        } else {
            previous[next[sample]] = previous[sample];
        }
        due[sample] = ABSENT;
        usedBytes -= sizes.bytes(sample);
        while (last >= 0 && oldest[last] == END) {
            last--;
        }
    }

    public boolean contains(int sample) {
        return due[sample] != ABSENT;
    }

    /** Bytes of what is kept. */
    public long usedBytes() {
        return usedBytes;
    }

    /** Changes the capacity as homes come and go; {@code evicted} is told the samples that go for it. */
    public void resize(long bytes, IntConsumer evicted) {
        capacityBytes = bytes;
        while (usedBytes > capacityBytes) {
            int victim = oldest[last];
            remove(victim);
            evicted.accept(victim);
        }
    }
}
