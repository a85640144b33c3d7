package io.clairfs.cache.posix;

import java.io.IOException;
import java.io.Serial;

/** A call of the C library failed; carries its errno. */
public final class PosixException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int errno;

    public PosixException(String call, int errno) {
        super(call + ": " + Posix.describe(errno));
        this.errno = errno;
    }

    /** The errno of the failed call, positive. */
    public int errno() {
        return errno;
    }
}
