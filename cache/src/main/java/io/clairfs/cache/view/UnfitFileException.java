package io.clairfs.cache.view;

import java.io.IOException;
import java.io.Serial;

/** A file of which a {@link Transform} can make nothing. The message says what is wrong with it, in one line, without its path. */
public final class UnfitFileException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    public UnfitFileException(String message) {
        super(message);
    }

    public UnfitFileException(String message, Throwable cause) {
        super(message, cause);
    }
}
