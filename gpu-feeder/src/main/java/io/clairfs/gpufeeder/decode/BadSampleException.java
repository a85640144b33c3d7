package io.clairfs.gpufeeder.decode;

import java.io.IOException;

/** A file that is not what the decoder expects. The message says what is wrong with it, without its path: the caller adds that. */
public final class BadSampleException extends IOException {
    private static final long serialVersionUID = 1;

    public BadSampleException(String message) {
        super(message);
    }

    public BadSampleException(String message, Throwable cause) {
        super(message, cause);
    }
}
