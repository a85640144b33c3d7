package io.clairfs.cache.source;

import io.clairfs.cache.posix.Posix;
import java.io.Serial;

/** The source's filesystem refused or failed; carries its errno, which the reader gets unchanged. */
public final class SourceFailedException extends SourceException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int errno;

    public SourceFailedException(String what, int errno) {
        super(what + ": " + Posix.describe(errno));
        this.errno = errno;
    }

    /** The source's errno, positive. */
    public int errno() {
        return errno;
    }
}
