package io.clairfs.cache.seed;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What each reader of a training asks for in its first epoch: four bytes for each request, a reader and a file.
 *
 * <p>For all threads. It takes no lock, for a reader waits while its request is noted.
 */
public final class FirstEpoch {
    /** Readers that are told apart: as many as a job may have ranks on one mount. */
    public static final int MOST_READERS = 64;

    /** Requests that are kept at most. */
    public static final int MOST_READS = 1 << 24;

    private static final int READER_BITS = 6;
    private static final int READER_MASK = MOST_READERS - 1;

    /** With the number of a reader, a file's number plus 1 has to fit into an int. */
    private static final int FILES = (1 << (Integer.SIZE - READER_BITS)) - 1;

    private static final int CHUNK_BITS = 16;
    private static final int CHUNK = 1 << CHUNK_BITS;

    /** Each entry is a file's number plus 1 and a reader; 0 while it is being written. Allocated as they are needed. */
    private final AtomicReferenceArray<AtomicIntegerArray> chunks;

    private final AtomicInteger next = new AtomicInteger();
    private final ConcurrentMap<Integer, Integer> readers = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private final int most;
    private volatile boolean overflowed;

    /** @param mostReads requests that are kept; with more, none of them tells the order of an epoch */
    public FirstEpoch(int mostReads) {
        most = Math.clamp(mostReads, 1, MOST_READS);
        chunks = new AtomicReferenceArray<>((most + CHUNK - 1) >>> CHUNK_BITS);
    }

    /** Notes that a thread asks for a file. */
    public void add(int thread, int file) {
        if (overflowed) {
            return;
        }
        Integer known = readers.get(thread);
        int reader = known != null ? known : readers.computeIfAbsent(thread, _ -> numbers.getAndIncrement());
        int at = reader < MOST_READERS && file < FILES ? next.getAndIncrement() : most;
        if (at >= most) {
            overflow();
            return;
        }
        chunk(at >>> CHUNK_BITS).set(at & (CHUNK - 1), (file + 1) << READER_BITS | reader);
    }

    private AtomicIntegerArray chunk(int number) {
        AtomicIntegerArray chunk = chunks.get(number);
        if (chunk == null) {
            AtomicIntegerArray made = new AtomicIntegerArray(CHUNK);
            AtomicIntegerArray other = chunks.compareAndExchange(number, null, made);
            return other == null ? made : other;
        }
        return chunk;
    }

    /** Gives the memory back. */
    private void overflow() {
        overflowed = true;
        for (int i = 0; i < chunks.length(); i++) {
            chunks.set(i, null);
        }
    }

    /** Whether there were too many requests, readers or files to remember. */
    public boolean hasOverflowed() {
        return overflowed;
    }

    /** How many requests there are. */
    public int count() {
        return overflowed ? 0 : Math.min(next.get(), most);
    }

    /** The file of a request; -1 while it is being written. */
    int file(int at) {
        return (entry(at) >>> READER_BITS) - 1;
    }

    /** The number of the reader of a request. */
    int reader(int at) {
        return entry(at) & READER_MASK;
    }

    private int entry(int at) {
        AtomicIntegerArray chunk = chunks.get(at >>> CHUNK_BITS);
        return chunk == null ? 0 : chunk.get(at & (CHUNK - 1));
    }
}
