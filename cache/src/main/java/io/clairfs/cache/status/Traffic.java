package io.clairfs.cache.status;

import java.util.concurrent.atomic.LongAdder;

/** Samples that came from one place, and their bytes, as sums since the mount. */
public final class Traffic {
    private final LongAdder count = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    /** One sample of this size, or one piece of a large one. */
    public void add(long size) {
        addPart(size, true);
    }

    /** A part of a sample, which counts as one with its {@code first} part. */
    public void addPart(long size, boolean first) {
        if (first) {
            count.increment();
        }
        bytes.add(size);
    }

    public long count() {
        return count.sum();
    }

    public long bytes() {
        return bytes.sum();
    }
}
