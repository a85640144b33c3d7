package io.clairfs.cache.source;

import java.io.IOException;
import java.io.Serial;

/** The source failed a call. The family is sealed so that one table maps it to errno. */
public abstract sealed class SourceException extends IOException
        permits SourceFailedException, SourceChangedException, SourceTimeoutException, SourceUnfitException {
    @Serial
    private static final long serialVersionUID = 1L;

    SourceException(String message) {
        super(message);
    }
}
