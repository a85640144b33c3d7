package io.clairfs.cache.follow;

/**
 * The time in which at least one of several readers waited: the length of the union of their waits.
 *
 * <p>Waits come when they end, so nearly in order. The last {@value #MOST} pieces of the union can still grow; what lies before the end of
 * an older piece is not counted again. Not thread-safe.
 */
final class WaitIntervals {
    static final int MOST = 64;

    /** Disjoint, ascending. */
    private final long[] starts = new long[MOST];

    private final long[] ends = new long[MOST];
    private int count;

    /** The length of the pieces that were forgotten, and the end of the last of them. */
    private long forgottenNs;

    private long floorNs = Long.MIN_VALUE;

    /** A reader waited from one time to another. */
    void add(long startNs, long endNs) {
        long start = Math.max(startNs, floorNs);
        if (endNs <= start) {
            return;
        }
        int at = count; // behind the pieces that begin before this one ends
        while (at > 0 && starts[at - 1] > endNs) {
            at--;
        }
        int first = at;
        long end = endNs;
        while (first > 0 && ends[first - 1] >= start) {
            first--;
            start = Math.min(start, starts[first]);
            end = Math.max(end, ends[first]);
        }
        replace(first, at, start, end);
    }

    /** Puts one piece in place of those from {@code first} up to {@code until}. */
    private void replace(int first, int until, long start, long end) {
        if (first == until && count == MOST) {
            long oldestStart = first == 0 ? start : starts[0];
            long oldestEnd = first == 0 ? end : ends[0];
            forgottenNs += oldestEnd - oldestStart;
            floorNs = oldestEnd;
            if (first > 0) {
                move(1, 0, first - 1);
                starts[first - 1] = start;
                ends[first - 1] = end;
            }
            return;
        }
        move(until, first + 1, count - until);
        starts[first] = start;
        ends[first] = end;
        count += 1 - (until - first);
    }

    private void move(int from, int to, int length) {
        System.arraycopy(starts, from, starts, to, length);
        System.arraycopy(ends, from, ends, to, length);
    }

    /** The time covered, nanoseconds. */
    long totalNs() {
        long total = forgottenNs;
        for (int i = 0; i < count; i++) {
            total += ends[i] - starts[i];
        }
        return total;
    }
}
