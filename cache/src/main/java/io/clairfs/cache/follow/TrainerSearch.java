package io.clairfs.cache.follow;

import io.clairfs.cache.order.InvalidSpecException;
import it.unimi.dsi.fastutil.ints.IntArrayFIFOQueue;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntLists;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * Looks for a trainer that does not follow the prediction: by its last reads, in the orders of the epochs around, nearest first.
 *
 * <p>Each search in vain doubles the number of reads until the next. Its {@link JobRun} guards it, except for {@link #nearestFirst}, which
 * may take a while, {@link #isUnderWay} and {@link #ended}.
 */
final class TrainerSearch {
    private static final int EPOCHS_SEARCHED = 400;

    /** The present epoch, the next, and the one before. */
    private static final int NEAREST = 2;

    private static final long LONGEST_NS = 10_000_000_000L;
    private static final long LONGEST_PAUSE = 1 << 16;
    private static final int MOST_MEANWHILE = 1 << 16;

    private final int[] lastRead;
    private final AtomicBoolean underWay = new AtomicBoolean();

    /** Recent reads that do not tell where the trainer is, though it may have made them; as many as are searched by. */
    private final IntArrayFIFOQueue suspects = new IntArrayFIFOQueue();

    /** Samples read during the search, in order; bounded, for an epoch of a large dataset would be of no use. */
    private final IntArrayList meanwhile = new IntArrayList();

    private long reads;
    private long dueAtRead;
    private long pause;

    /** How many reads there were at the last {@link #lastRead}. */
    private long readsSearched;

    /** How many reads there were when the trainer was followed last. */
    private long followedUntil;

    /** Whether it was searched for and not found since. */
    private boolean inVain;

    /** Searches by {@code memory} reads at most. */
    TrainerSearch(int memory) {
        lastRead = new int[memory];
        pause = memory;
        dueAtRead = memory;
    }

    int memory() {
        return lastRead.length;
    }

    /** How many reads there were. */
    long reads() {
        return reads;
    }

    /** A sample was read. {@code followed}: while the trainer needed no search. */
    void read(int sample, boolean followed) {
        lastRead[(int) (reads % lastRead.length)] = sample;
        reads++;
        if (followed) {
            followedUntil = reads;
            inVain = false;
        }
        note(sample);
    }

    /** A sample was read, but maybe not by the trainer. */
    void readSuspect(int sample) {
        suspects.enqueue(sample);
        if (suspects.size() > lastRead.length) {
            suspects.dequeueInt();
        }
        note(sample);
    }

    private void note(int sample) {
        if (underWay.get() && meanwhile.size() < MOST_MEANWHILE) {
            meanwhile.add(sample);
        }
    }

    /** Whether a search should begin; true for one caller, who then calls {@link #ended}. */
    boolean begin() {
        return reads >= dueAtRead && underWay.compareAndSet(false, true);
    }

    /** As {@link #begin}, but whether it is due or not. */
    boolean beginNow() {
        return underWay.compareAndSet(false, true);
    }

    /** Whether one has begun and not {@link #ended}. */
    boolean isUnderWay() {
        return underWay.get();
    }

    void ended() {
        underWay.set(false);
    }

    /** The reads so far are worth nothing for a search: puts it off. */
    void postpone() {
        dueAtRead = reads + lastRead.length;
        inVain = false;
    }

    /** Whether the trainer was searched for and not found since it was followed last, or should have been searched for long ago. */
    boolean hasFailed() {
        long since = Math.max(followedUntil, dueAtRead);
        return inVain || (reads - since >= lastRead.length && !underWay.get());
    }

    void judge(boolean found) {
        inVain = !found;
        pause = found ? lastRead.length : Math.min(pause * 2, LONGEST_PAUSE);
        dueAtRead = reads + pause;
    }

    /** The samples read last, the newest first, to search by. */
    int[] lastRead() {
        meanwhile.clear();
        readsSearched = reads;
        int[] samples = new int[(int) Math.min(reads, lastRead.length)];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = lastRead[(int) ((reads - 1 - i) % lastRead.length)];
        }
        return samples;
    }

    /** How many reads there were at the last {@link #lastRead}, by which the trainer was found. */
    long readsSearched() {
        return readsSearched;
    }

    /** Samples that the trainer may have read, at about the time of {@link #lastRead}. */
    int[] suspects() {
        int[] samples = new int[suspects.size()];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = suspects.dequeueInt();
            suspects.enqueue(samples[i]);
        }
        return samples;
    }

    /** The samples that were read after {@link #lastRead}, the oldest first. */
    IntList readMeanwhile() {
        return IntLists.unmodifiable(meanwhile);
    }

    /** Whether the trainer is in this epoch. */
    @FunctionalInterface
    interface EpochSearch {
        boolean finds(int epoch) throws InvalidSpecException;
    }

    /**
     * Tries the epochs around {@code epoch}, and after the nearest of them {@code startEpoch}, where a training begins again; begins none after ten seconds.
     * Returns whether the trainer was found.
     *
     * @param clockNs as {@link System#nanoTime}
     */
    static boolean nearestFirst(int epoch, int startEpoch, int epochs, LongSupplier clockNs, EpochSearch search)
            throws InvalidSpecException {
        long beganNs = clockNs.getAsLong();
        for (int distance = 0; distance < 2 * EPOCHS_SEARCHED; distance++) {
            int candidate = epoch + (distance % 2 == 0 ? -distance / 2 : (distance + 1) / 2);
            if (candidate >= 0 && candidate < epochs && search.finds(candidate)) {
                return true;
            }
            if (distance == NEAREST && Math.abs(startEpoch - epoch) > NEAREST / 2 && search.finds(startEpoch)) {
                return true;
            }
            if (clockNs.getAsLong() - beganNs > LONGEST_NS) {
                return false;
            }
        }
        return false;
    }
}
