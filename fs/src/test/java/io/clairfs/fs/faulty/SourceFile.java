package io.clairfs.fs.faulty;

import java.util.ArrayList;
import java.util.List;

/**
 * A file of a faulty source as it is now, and as it has been.
 *
 * @param ever its contents, the oldest first; the last is that of now
 * @param cutAt where reads end, though the size says otherwise; {@link #WHOLE} when they do not
 */
record SourceFile(List<FileContent> ever, long cutAt) {
    static final long WHOLE = Long.MAX_VALUE;

    FileContent now() {
        return ever.getLast();
    }

    SourceFile with(FileContent next) {
        List<FileContent> longer = new ArrayList<>(ever);
        longer.add(next);
        return new SourceFile(List.copyOf(longer), WHOLE);
    }

    /** Where reads end. */
    long readable() {
        return Math.min(now().size(), cutAt);
    }
}
