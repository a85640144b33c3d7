package io.clairfs.cache.source;

import java.io.Serial;

/** A file of the source is not what the mount's view makes something of, a damaged image for one. The message has its path and the reason. */
public final class SourceUnfitException extends SourceException {
    @Serial
    private static final long serialVersionUID = 1L;

    public SourceUnfitException(String message, Throwable cause) {
        super(message);
        initCause(cause);
    }
}
