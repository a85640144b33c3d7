package io.clairfs.cache.source;

import java.io.Serial;

/** A file of the source is not the one that was listed: its size or modification time differs. */
public final class SourceChangedException extends SourceException {
    @Serial
    private static final long serialVersionUID = 1L;

    public SourceChangedException(String what) {
        super(what + " changed in the source since it was listed; unmount and mount again to see the new content");
    }
}
