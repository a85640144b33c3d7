package io.clairfs.gpufeeder.feed;

import java.io.IOException;

/** Why there is nothing to feed. The message is a line for the user, with the remedy. */
public final class FeedException extends IOException {
    private static final long serialVersionUID = 1;

    public FeedException(String message) {
        super(message);
    }

    public FeedException(String message, Throwable cause) {
        super(message, cause);
    }
}
