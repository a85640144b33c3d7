package io.clairfs.cache.source;

import java.io.Serial;

/** The source did not answer within the read timeout. */
public final class SourceTimeoutException extends SourceException {
    @Serial
    private static final long serialVersionUID = 1L;

    public SourceTimeoutException(String what, long timeoutMs) {
        super(what + ": the source did not answer within " + timeoutMs + " ms");
    }
}
