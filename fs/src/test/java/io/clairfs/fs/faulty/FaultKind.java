package io.clairfs.fs.faulty;

import io.clairfs.cache.posix.Errno;
import java.util.EnumSet;
import java.util.Set;

/** The ways in which a request goes wrong. What may happen to a file's content is {@link SourceFiles}' matter. */
public enum FaultKind {
    EIO(Errno.EIO),
    /** The file is gone, though it was listed. */
    ENOENT(Errno.ENOENT),
    EACCES(Errno.EACCES),
    ETIMEDOUT(Errno.ETIMEDOUT),
    /** A store that asks for mercy. */
    EAGAIN(Errno.EAGAIN),
    /** The answer takes longer. */
    DELAY(0),
    /** No answer before the fault is lifted. It comes in the end at all events: ETIMEDOUT after the bound. */
    HANG(Errno.ETIMEDOUT),
    /** A read is given less than it asked for, and not nothing, in the middle of a file: legal, and often not expected. */
    SHORT_READ(0);

    private final int errno;

    FaultKind(int errno) {
        this.errno = errno;
    }

    int errno() {
        return errno;
    }

    /** The requests that it strikes unless said otherwise. */
    Set<Request> usual() {
        return switch (this) {
            case EIO, ETIMEDOUT, DELAY, HANG -> Request.CONTENT;
            case ENOENT, EACCES, EAGAIN -> EnumSet.of(Request.OPEN);
            case SHORT_READ -> EnumSet.of(Request.READ);
        };
    }
}
