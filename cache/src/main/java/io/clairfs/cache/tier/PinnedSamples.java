package io.clairfs.cache.tier;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The pinned sample of each file, if any: a reference for each file of the dataset, in pages. A page is made when the first of its files is
 * pinned, and stays. Reading takes no lock; each change is one atomic step.
 */
final class PinnedSamples {
    private static final int PAGE_BITS = 12;
    private static final int IN_PAGE = (1 << PAGE_BITS) - 1;

    /** Pages are made and the table grows under the lock; a page keeps its place. */
    private volatile Page[] pages = new Page[0];

    private static final class Page {
        private final AtomicReferenceArray<@Nullable SampleBuffer> samples = new AtomicReferenceArray<>(1 << PAGE_BITS);
    }

    private @Nullable Page page(int file) {
        Page[] now = pages;
        int at = file >> PAGE_BITS;
        return at >= 0 && at < now.length ? now[at] : null;
    }

    /** The pinned sample; null when there is none, also for a number without a file. */
    @Nullable
    SampleBuffer get(int file) {
        Page page = page(file);
        return page == null ? null : page.samples.get(file & IN_PAGE);
    }

    /** Pins a sample for a file that has none. */
    void put(int file, SampleBuffer sample) {
        Page page = page(file);
        SampleBuffer before = (page == null ? newPage(file) : page).samples.getAndSet(file & IN_PAGE, sample);
        assert before == null : "pinned twice";
    }

    /** Removes the sample from the table. Only one caller gets it. */
    @Nullable
    SampleBuffer remove(int file) {
        Page page = page(file);
        return page == null || page.samples.get(file & IN_PAGE) == null
                ? null
                : page.samples.getAndSet(file & IN_PAGE, null);
    }

    /** One more than the highest file that has a place in the table. */
    int end() {
        return pages.length << PAGE_BITS;
    }

    private synchronized Page newPage(int file) {
        int at = file >> PAGE_BITS;
        Page[] now = pages;
        if (at < now.length && now[at] != null) {
            return now[at];
        }
        Page[] next = new Page[Math.max(at + 1, now.length)];
        System.arraycopy(now, 0, next, 0, now.length);
        Page made = new Page();
        next[at] = made;
        pages = next;
        return made;
    }
}
