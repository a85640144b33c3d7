package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.InvalidSpecException;

/**
 * Runs ahead of a stream to name the files that the memory tier should hold next, in access order: preloading without a phase
 * of its own (KSpeed, ICNP 2024, section III-B, in the order of the stream).
 *
 * <p>It stops after twice as many positions as the dataset has samples: by then it has named nearly everything that this rank
 * will read, and what is missing did not fit.
 */
final class FillCursor {
    /** No file: nothing is left to fill. */
    static final int NONE = -1;

    private final AccessStream stream;
    private final SampleIndex index;
    private long position;
    private long left;

    FillCursor(AccessStream stream, SampleIndex index, long start) {
        this.stream = stream;
        this.index = index;
        jump(start);
    }

    synchronized void jump(long to) {
        position = to;
        left = 2L * index.size();
    }

    /** Where it is; {@link AccessStream#END} when nothing is left. */
    synchronized long position() {
        return left > 0 ? position : AccessStream.END;
    }

    /** The next file, or {@link #NONE}. */
    synchronized int next() throws InvalidSpecException {
        while (left > 0) {
            position = stream.atOrAfter(position);
            if (position == AccessStream.END) {
                left = 0;
                return NONE;
            }
            int file = index.file(stream.sample(position));
            position++;
            left--;
            if (file != SampleIndex.NO_FILE) {
                return file;
            }
        }
        return NONE;
    }
}
