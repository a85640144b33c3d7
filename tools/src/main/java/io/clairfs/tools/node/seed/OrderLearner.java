package io.clairfs.tools.node.seed;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.seed.FirstEpoch;
import io.clairfs.cache.seed.RepeatedOrder;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the first epoch of a trainer whose order nobody knows, and tells when the second repeats it.
 *
 * <p>Requests are what is remembered: they name the reader, and there is one for each sample that is read for the first time. The second epoch is
 * seen by closes, because the page cache answers many of its reads. It begins where nearly all files that are closed were closed before. Memory: four
 * bytes for each request, then four for each sample.
 *
 * <p>{@link #asked} and {@link #closed} are for all threads, the rest for one.
 */
final class OrderLearner {
    /** Closes that are not looked at yet; when it is full, further ones are dropped. */
    private static final int QUEUE = 1 << 16;

    /** Of so many closes in a row, so many have to be of files that were closed before. */
    private static final int LAST = 16;

    private static final int AGAIN = 12;

    /** With fewer requests there is no order to learn. */
    private static final int FEWEST = 64;

    /** What is remembered takes at most this part of the heap, in bytes for each request, twice while it is sorted. */
    private static final int PART_OF_HEAP = 32;

    private static final int MOST_SINCE = 1 << 16;

    private final ReentrantLock lock = new ReentrantLock();
    private final int[] queue = new int[QUEUE];
    private int queued;

    /** What is recorded; null when nothing is. */
    private volatile @Nullable FirstEpoch epoch;

    private volatile boolean listening;

    // What follows belongs to the thread.
    private final int[] taken = new int[QUEUE];
    private long[] closedBefore = new long[0];
    private final int[] last = new int[LAST];
    private final boolean[] again = new boolean[LAST];
    private long closes;
    private @Nullable RepeatedOrder order;
    private @Nullable SampleIndex index;
    private int[] since = new int[0];
    private int sinceCount;
    private boolean known;
    private int contradicted;
    private int trainings;

    /** A thread asks for a file. */
    void asked(int thread, int file) {
        FirstEpoch now = epoch;
        if (now != null) {
            now.add(thread, file);
        }
    }

    /** Readers have closed files. */
    void closed(int[] files, int count) {
        if (!listening) {
            return;
        }
        lock.lock();
        try {
            int fit = Math.min(count, QUEUE - queued);
            System.arraycopy(files, 0, queue, queued, fit);
            queued += fit;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A training begins: its first epoch is remembered, unless something is being remembered. After orders that were not repeated, only the second,
     * fourth, eighth training after them is.
     */
    void begin() {
        if (listening) {
            return;
        }
        trainings++;
        if (contradicted == 0 || trainings >= 1 << Math.min(contradicted, Integer.SIZE - 2)) {
            trainings = 0;
            closedBefore = new long[0];
            closes = 0;
            long heap = Runtime.getRuntime().maxMemory();
            epoch = new FirstEpoch((int) Math.min(FirstEpoch.MOST_READS, heap / PART_OF_HEAP));
            listening = true;
        }
    }

    /** Forgets everything. */
    void stop() {
        listening = false;
        epoch = null;
        order = null;
        index = null;
        known = false;
        since = new int[0];
        sinceCount = 0;
        closedBefore = new long[0];
        lock.lock();
        try {
            queued = 0;
        } finally {
            lock.unlock();
        }
    }

    /** Whether an epoch is remembered or compared. */
    boolean isAtWork() {
        return listening;
    }

    /** Whether there is something to {@link #look} at: nobody needs the index for less. */
    boolean hasNews() {
        FirstEpoch recorded = epoch;
        if (recorded != null && recorded.hasOverflowed()) {
            return true;
        }
        lock.lock();
        try {
            return queued > 0;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the order is known, as of the last look. */
    boolean isKnown() {
        return known;
    }

    /** How many requests of the first epoch are remembered. */
    int remembered() {
        FirstEpoch now = epoch;
        return now == null ? 0 : now.count();
    }

    /** An order that is repeated, and the files that its second epoch has read so far. */
    record Learned(RepeatedOrder order, int[] read) {}

    /** The order, when the second epoch repeats the first; null before that. */
    @Nullable
    Learned learned() {
        RepeatedOrder repeated = order;
        return known && repeated != null ? new Learned(repeated, Arrays.copyOf(since, sinceCount)) : null;
    }

    /**
     * Looks at what was closed since the last call. Returns whether the order is known.
     *
     * @param all the index of the whole dataset
     */
    boolean look(SampleIndex all) {
        int count;
        lock.lock();
        try {
            count = queued;
            System.arraycopy(queue, 0, taken, 0, count);
            queued = 0;
        } finally {
            lock.unlock();
        }
        FirstEpoch recorded = epoch;
        if (recorded != null && recorded.hasOverflowed()) {
            giveUp();
        }
        for (int i = 0; i < count && listening; i++) {
            if (order == null) {
                record(taken[i], all);
            } else {
                compare(taken[i]);
            }
        }
        return known;
    }

    private void record(int file, SampleIndex all) {
        if (file >>> 6 >= closedBefore.length) {
            closedBefore = Arrays.copyOf(closedBefore, Math.max((file >>> 6) + 1, 2 * closedBefore.length));
        }
        long bit = 1L << file;
        int at = (int) (closes++ % LAST);
        last[at] = file;
        again[at] = (closedBefore[file >>> 6] & bit) != 0;
        closedBefore[file >>> 6] |= bit;
        int repeated = 0;
        for (boolean each : again) {
            repeated += each ? 1 : 0;
        }
        FirstEpoch recorded = epoch;
        if (again[at] && closes >= LAST && repeated >= AGAIN && recorded != null && recorded.count() >= FEWEST) {
            index = all;
            order = RepeatedOrder.of(recorded, all.size(), all::sampleOf);
            epoch = null;
            closedBefore = new long[0];
            for (int i = 0; i < LAST && listening; i++) {
                compare(last[(int) ((closes + i) % LAST)]);
            }
        }
    }

    private void compare(int file) {
        RepeatedOrder repeated = order;
        SampleIndex samples = index;
        if (repeated == null || samples == null) {
            return;
        }
        if (sinceCount == since.length && sinceCount < MOST_SINCE) {
            since = Arrays.copyOf(since, Math.max(LAST, 2 * sinceCount));
        }
        if (sinceCount < since.length) {
            since[sinceCount++] = file;
        }
        int sample = samples.sampleOf(file);
        if (known || sample < 0) {
            return;
        }
        switch (repeated.read(sample)) {
            case OPEN -> {}
            case REPEATS -> {
                known = true;
                contradicted = 0;
            }
            case CONTRADICTED -> giveUp();
        }
    }

    private void giveUp() {
        contradicted++;
        stop();
    }
}
