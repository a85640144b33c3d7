package io.clairfs.cache.seed;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The first samples that each reader of a training read, in the order in which each read them.
 *
 * <p>Bounded: the first {@value #MOST_READS} reads of the first {@value #MOST_READERS} readers. For all threads.
 */
public final class FirstReads {
    /** Reads that are kept; later ones are not. */
    public static final int MOST_READS = 4096;

    /** Readers that are told apart; the reads of further ones are not kept. */
    public static final int MOST_READERS = 1024;

    /** The id that stands for readers that cannot be told apart. */
    public static final int UNKNOWN = 0;

    private static final int NO_READER = -1;

    private final ReentrantLock lock = new ReentrantLock();
    private final int samples;
    private final Map<Integer, Integer> numberOf = new HashMap<>();
    private final int[] readers = new int[MOST_READS];
    private final int[] read = new int[MOST_READS];
    private final int[] last = new int[MOST_READERS];
    private int count;

    /** @param samples how many samples the dataset has */
    public FirstReads(int samples) {
        this.samples = samples;
    }

    /**
     * Notes a read. A sample that its reader repeats right away counts once.
     *
     * @param reader the id of the reading process or thread, or {@link #UNKNOWN}
     * @param sample the index of the sample
     */
    public void read(int reader, int sample) {
        if (sample < 0 || sample >= samples) {
            throw new IllegalArgumentException("sample " + sample + " of " + samples);
        }
        lock.lock();
        try {
            if (count == MOST_READS) {
                return;
            }
            Integer known = numberOf.get(reader);
            if (known == null) {
                if (numberOf.size() == MOST_READERS) {
                    return;
                }
                known = numberOf.size();
                numberOf.put(reader, known);
            } else if (last[known] == sample) {
                return;
            }
            last[known] = sample;
            readers[count] = known;
            read[count++] = sample;
        } finally {
            lock.unlock();
        }
    }

    /** How many reads are kept. */
    public int count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** Forgets all reads and readers. */
    public void clear() {
        lock.lock();
        try {
            count = 0;
            numberOf.clear();
        } finally {
            lock.unlock();
        }
    }

    /** A copy of what is kept. */
    public Snapshot snapshot() {
        lock.lock();
        try {
            int unknown = numberOf.getOrDefault(UNKNOWN, NO_READER);
            return new Snapshot(Arrays.copyOf(readers, count), Arrays.copyOf(read, count), unknown);
        } finally {
            lock.unlock();
        }
    }

    /** The reads at one moment; it never changes. */
    public static final class Snapshot {
        private final int[] readers;
        private final int[] samples;
        private final List<int[]> ofReaders;
        private final int unknown;

        private Snapshot(int[] readers, int[] samples, int unknown) {
            this.unknown = unknown;
            this.readers = readers;
            this.samples = samples;
            int[] counts = new int[Arrays.stream(readers).max().orElse(-1) + 1];
            for (int reader : readers) {
                counts[reader]++;
            }
            List<int[]> lists = new ArrayList<>();
            for (int reads : counts) {
                lists.add(new int[reads]);
            }
            int[] next = new int[counts.length];
            for (int i = 0; i < samples.length; i++) {
                int reader = readers[i];
                lists.get(reader)[next[reader]++] = samples[i];
            }
            ofReaders = lists;
        }

        /** How many reads there are. */
        public int count() {
            return samples.length;
        }

        /** How many readers made them. */
        public int readers() {
            return ofReaders.size();
        }

        /** How many reads {@code reader} made; readers count from 0 in the order of their first reads. */
        public int count(int reader) {
            return ofReaders.get(reader).length;
        }

        /** The {@code i}-th sample that {@code reader} read. */
        public int sample(int reader, int i) {
            return ofReaders.get(reader)[i];
        }

        /** Whether {@code reader} stands for all those that cannot be told apart. */
        public boolean isUnknown(int reader) {
            return reader == unknown;
        }

        /** The {@code i}-th sample of all reads. */
        public int sample(int i) {
            return samples[i];
        }

        /** Who made the {@code i}-th of all reads. */
        public int reader(int i) {
            return readers[i];
        }
    }
}
