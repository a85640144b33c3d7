package io.clairfs.tools.mount;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Arrays;
import java.util.TreeMap;

/** The reads of samples of one size one after another, and how often caches of other policies would have had them. */
final class CacheTrace {
    private final IntList reads = new IntArrayList();

    void read(int sample) {
        reads.add(sample);
    }

    /** The share of the reads from {@code first} on that a cache for so many samples serves which evicts what is used last (Belady's MIN). */
    double optimum(int capacity, int first) {
        int[] next = new int[reads.size()];
        int[] seen = new int[reads.intStream().max().orElse(0) + 1];
        Arrays.fill(seen, Integer.MAX_VALUE);
        for (int i = next.length - 1; i >= 0; i--) {
            next[i] = seen[reads.getInt(i)];
            seen[reads.getInt(i)] = i;
        }
        TreeMap<Long, Integer> byNextUse = new TreeMap<>();
        int hits = 0;
        for (int i = 0; i < next.length; i++) {
            int sample = reads.getInt(i);
            boolean hit = byNextUse.remove(key(i, sample)) != null;
            hits += hit && i >= first ? 1 : 0;
            byNextUse.put(key(next[i], sample), sample);
            if (byNextUse.size() > capacity) {
                byNextUse.pollLastEntry();
            }
        }
        return (double) hits / (next.length - first);
    }

    private static long key(int use, int sample) {
        return (long) use << Integer.SIZE | sample;
    }

    /** The share of the reads from {@code first} on that Caffeine's cache for so many samples serves. */
    double tinyLfu(int capacity, int first) {
        Cache<Integer, Boolean> cache = Caffeine.newBuilder()
                .maximumSize(capacity)
                .executor(Runnable::run)
                .build();
        int hits = 0;
        for (int i = 0; i < reads.size(); i++) {
            boolean hit = cache.getIfPresent(reads.getInt(i)) != null;
            hits += hit && i >= first ? 1 : 0;
            cache.put(reads.getInt(i), true);
            cache.cleanUp();
        }
        return (double) hits / (reads.size() - first);
    }
}
