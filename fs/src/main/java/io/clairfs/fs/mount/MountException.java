package io.clairfs.fs.mount;

import java.io.IOException;
import java.io.Serial;

/** A mount could not be made or ended; the message is one line with the remedy. */
public final class MountException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    public MountException(String message) {
        super(message);
    }
}
