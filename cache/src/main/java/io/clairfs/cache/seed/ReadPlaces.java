package io.clairfs.cache.seed;

import io.clairfs.cache.order.EpochOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The places that reads have in an order that is tried, and the step between the places of consecutive reads of a reader.
 *
 * <p>A worker of a rank reads consecutive samples of its rank's order, so its reads are equally far apart in the order that is dealt. Each
 * sample counts once, for the reader that read most: reads that two readers have in common say nothing twice. For one thread.
 */
final class ReadPlaces {
    /** The largest step, so the largest world, that is looked for. */
    static final int MOST_STEP = 4096;

    /** Reads that are looked at. */
    static final int MOST_READS = 1024;

    /** Reads before one which it may continue, where readers cannot be told apart. */
    private static final int WINDOW_OF_UNKNOWN = 128;

    private static final int UNPLACED = -1;
    private static final int NONE = -1;

    private final int samples;
    private final int reads;
    private final int alone;
    private final int widest;
    private final int[] sampleOf;
    private final int[] readerOf;
    private final boolean[] unknown;
    private final int[] windows;
    private final int[] places;
    private final int[] placed;
    private int hits;
    private final long[] isRead;
    private final int[] table;
    private final int[] counts = new int[MOST_STEP + 1];

    /** The consecutive reads of a reader that fit: {@code length} reads from {@code start} on, the last at {@code end}. */
    record Run(int start, int end, int length) {
        private Run extended(int place) {
            return new Run(start, place, length + 1);
        }
    }

    /**
     * The runs of a reader, in the order in which it read them.
     *
     * @param known whether it is one reader; readers that cannot be told apart give one track for each run
     */
    record Track(List<Run> runs, boolean known) {}

    /**
     * The commonest step.
     *
     * @param step between two reads; 0 when there is none
     * @param fits how many reads continue one before them with this step
     */
    record Fit(int step, int fits) {}

    ReadPlaces(FirstReads.Snapshot snapshot, int samples) {
        this.samples = samples;
        int most = Math.min(Math.min(snapshot.count(), MOST_READS), samples / 2);
        int[][] kept = distinct(snapshot, most);
        reads = Arrays.stream(kept).mapToInt(list -> list.length).sum();
        sampleOf = new int[reads];
        readerOf = new int[reads];
        windows = new int[reads];
        unknown = new boolean[kept.length];
        places = new int[reads];
        placed = new int[reads];
        Arrays.fill(places, UNPLACED);
        isRead = new long[(samples >>> 6) + 1];
        table = new int[Integer.highestOneBit(Math.max(1, reads)) * 4];
        Arrays.fill(table, NONE);
        int at = 0;
        int single = 0;
        int window = 1;
        for (int reader = 0; reader < kept.length; reader++) {
            unknown[reader] = snapshot.isUnknown(reader);
            int wide = unknown[reader] ? WINDOW_OF_UNKNOWN : 1;
            window = kept[reader].length > 1 ? Math.max(window, wide) : window;
            single += kept[reader].length == 1 ? 1 : 0;
            for (int i = 0; i < kept[reader].length; i++, at++) {
                windows[at] = Math.min(i, wide);
                readerOf[at] = reader;
                enter(kept[reader][i], at);
            }
        }
        alone = single;
        widest = window;
    }

    /** The first {@code most} reads by readers; where several read a sample, the one that reads most keeps it, the first one of equals. */
    private static int[][] distinct(FirstReads.Snapshot snapshot, int most) {
        int[] counts = new int[snapshot.readers()];
        for (int i = 0; i < most; i++) {
            counts[snapshot.reader(i)]++;
        }
        Map<Integer, Integer> keeper = new HashMap<>();
        for (int i = 0; i < most; i++) {
            keeper.merge(
                    snapshot.sample(i),
                    snapshot.reader(i),
                    (a, b) -> counts[b] > counts[a] || (counts[b] == counts[a] && b < a) ? b : a);
        }
        List<List<Integer>> kept = new ArrayList<>();
        for (int reader = 0; reader < counts.length; reader++) {
            kept.add(new ArrayList<>());
        }
        for (int i = 0; i < most; i++) {
            int sample = snapshot.sample(i);
            int reader = snapshot.reader(i);
            if (keeper.getOrDefault(sample, NONE) == reader) {
                kept.get(reader).add(sample);
                keeper.put(sample, NONE);
            }
        }
        return kept.stream()
                .map(list -> list.stream().mapToInt(i -> i).toArray())
                .toArray(int[][]::new);
    }

    private void enter(int sample, int read) {
        sampleOf[read] = sample;
        isRead[sample >>> 6] |= 1L << sample;
        int slot = slot(sample);
        while (table[slot] != NONE) {
            slot = (slot + 1) & (table.length - 1);
        }
        table[slot] = read;
    }

    private int slot(int sample) {
        return ((sample * 0x9e3779b9) >>> 8) & (table.length - 1);
    }

    /** How many reads are looked at. */
    int reads() {
        return reads;
    }

    /** How many of them have a reader that made no other; they continue nothing. */
    int alone() {
        return alone;
    }

    /** The most reads before one which it may continue. */
    int window() {
        return widest;
    }

    /** The most reads that can continue one before them. */
    int mostFits() {
        return (int) Arrays.stream(windows).filter(window -> window > 0).count();
    }

    /** Forgets the order that was tried. */
    void clear() {
        for (int i = 0; i < hits; i++) {
            places[placed[i]] = UNPLACED;
        }
        hits = 0;
    }

    /** Tries the first {@code count} elements of an order. */
    void scan(int[] order, int count) {
        for (int place = 0; place < count; place++) {
            int sample = order[place];
            if ((isRead[sample >>> 6] & (1L << sample)) != 0) {
                put(sample, place);
            }
        }
    }

    /** Tries the elements from {@code from} to {@code to - 1} of the order of {@code rank}. */
    void scan(EpochOrder order, int rank, int from, int to) {
        for (int place = from; place < to; place++) {
            int sample = order.sample(rank, place);
            if ((isRead[sample >>> 6] & (1L << sample)) != 0) {
                put(sample, place);
            }
        }
    }

    /** A sample that an order has twice counts where it comes first. */
    private void put(int sample, int place) {
        int slot = slot(sample);
        while (sampleOf[table[slot]] != sample) {
            slot = (slot + 1) & (table.length - 1);
        }
        int read = table[slot];
        if (places[read] == UNPLACED) {
            places[read] = place;
            placed[hits++] = read;
        }
    }

    /** How many reads have a place. */
    int hits() {
        return hits;
    }

    /** How many reads have one of the first {@code count} places. */
    int hitsBefore(int count) {
        int before = 0;
        for (int i = 0; i < hits; i++) {
            before += places[placed[i]] < count ? 1 : 0;
        }
        return before;
    }

    Fit fit() {
        int step = 0;
        int most = 0;
        for (int i = 0; i < hits; i++) {
            int read = placed[i];
            for (int back = 1; back <= windows[read]; back++) {
                int delta = delta(read, back);
                if (delta > 0 && delta <= MOST_STEP) {
                    int count = ++counts[delta];
                    if (count > most || (count == most && delta < step)) {
                        most = count;
                        step = delta;
                    }
                }
            }
        }
        for (int i = 0; i < hits; i++) {
            int read = placed[i];
            for (int back = 1; back <= windows[read]; back++) {
                int delta = delta(read, back);
                if (delta > 0 && delta <= MOST_STEP) {
                    counts[delta] = 0;
                }
            }
        }
        return new Fit(step, most);
    }

    private int delta(int read, int back) {
        int before = places[read - back];
        return before == UNPLACED ? 0 : places[read] - before;
    }

    /** The runs of at least two reads with this step. A read between two of a run, which does not belong to it, is left out. */
    List<Track> tracks(int step) {
        List<Track> tracks = new ArrayList<>();
        for (int from = 0; from < reads; ) {
            int to = from;
            while (to < reads && readerOf[to] == readerOf[from]) {
                to++;
            }
            boolean known = !unknown[readerOf[from]];
            List<Run> runs = runs(from, to, step, known ? 2 : WINDOW_OF_UNKNOWN);
            if (known && !runs.isEmpty()) {
                tracks.add(new Track(runs, true));
            } else {
                runs.forEach(run -> tracks.add(new Track(List.of(run), false)));
            }
            from = to;
        }
        return tracks;
    }

    private List<Run> runs(int from, int to, int step, int lookBack) {
        List<Run> runs = new ArrayList<>();
        for (int read = from; read < to; read++) {
            int place = places[read];
            if (place == UNPLACED) {
                continue;
            }
            int last = Math.max(0, runs.size() - lookBack);
            int i = runs.size() - 1;
            while (i >= last && runs.get(i).end() + step != place) {
                i--;
            }
            if (i >= last) {
                runs.add(runs.remove(i).extended(place));
            } else {
                runs.add(new Run(place, place, 1));
            }
        }
        runs.removeIf(run -> run.length() < 2);
        return runs;
    }

    int samples() {
        return samples;
    }
}
