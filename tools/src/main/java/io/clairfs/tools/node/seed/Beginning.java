package io.clairfs.tools.node.seed;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.seed.FirstReads;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The first requests of a training, in the order in which they came: which thread asked for which file.
 *
 * <p>Holds {@value #MOST} of them, and takes no lock, for a reader waits meanwhile. A training begins when a thread reads that has not read
 * before, after nobody has read for a while, or when those before have been searched.
 */
final class Beginning {
    /** Requests that are kept; later ones are not. */
    static final int MOST = FirstReads.MOST_READS;

    private static final long SILENCE_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long SEARCHED_AGE_NS = TimeUnit.SECONDS.toNanos(10);

    /** Above the bits of the file's number. */
    private static final int THREAD_SHIFT = 32;

    /** Each is a thread and a file's number plus 1; 0 while it is being written. */
    private final AtomicLongArray requests = new AtomicLongArray(MOST);

    private final AtomicInteger next = new AtomicInteger();
    private final Set<Integer> threads = ConcurrentHashMap.newKeySet();
    private final long sinceNs;
    private volatile long firstNs;
    private volatile long lastNs;
    private volatile boolean searched;

    Beginning(long nowNs) {
        sinceNs = nowNs;
        firstNs = nowNs;
        lastNs = nowNs;
    }

    /** Whether a request of this thread begins another training. */
    boolean isOverFor(int thread, long nowNs) {
        boolean another = !threads.contains(thread);
        if (count() == 0 || !(another || searched)) {
            return false;
        }
        boolean silence = nowNs - lastNs > SILENCE_NS;
        return silence || (another && searched && nowNs - sinceNs > SEARCHED_AGE_NS);
    }

    /** Adds a request. Returns how many there are now, or 0 when it was not kept. */
    int add(int thread, int file, long nowNs) {
        lastNs = nowNs;
        if (next.get() >= MOST) {
            return 0;
        }
        int at = next.getAndIncrement();
        if (at >= MOST) {
            return 0;
        }
        if (at == 0) {
            firstNs = nowNs;
        }
        threads.add(thread);
        requests.set(at, ((long) thread << THREAD_SHIFT) | (file + 1L));
        return at + 1;
    }

    /** How many requests there are. */
    int count() {
        return Math.min(next.get(), MOST);
    }

    /** How long ago the first request came, nanoseconds. */
    long ageNs(long nowNs) {
        return nowNs - firstNs;
    }

    /** How long nobody has read, nanoseconds. */
    long silentNs(long nowNs) {
        return nowNs - lastNs;
    }

    /** Nothing more will be found in it. */
    void searched() {
        searched = true;
    }

    /** What came since the last search may tell more than that did. */
    void searchAgain() {
        searched = false;
    }

    boolean isSearched() {
        return searched;
    }

    /** The files in the order of the requests. */
    int[] files() {
        int count = count();
        int[] files = new int[count];
        int found = 0;
        for (int i = 0; i < count; i++) {
            long request = requests.get(i);
            if (request != 0) {
                files[found++] = file(request);
            }
        }
        return Arrays.copyOf(files, found);
    }

    private static int file(long request) {
        return (int) request - 1;
    }

    /** The requests for samples of {@code index}. */
    FirstReads.Snapshot reads(SampleIndex index) {
        FirstReads reads = new FirstReads(index.size());
        int count = count();
        for (int i = 0; i < count; i++) {
            long request = requests.get(i);
            int sample = request == 0 ? -1 : index.sampleOf(file(request));
            if (sample >= 0) {
                reads.read((int) (request >>> THREAD_SHIFT), sample);
            }
        }
        return reads.snapshot();
    }
}
