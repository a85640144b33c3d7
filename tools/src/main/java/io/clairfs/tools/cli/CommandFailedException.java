package io.clairfs.tools.cli;

import java.io.Serial;

/** A command failed. The message is the line that the user sees. */
public final class CommandFailedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    public CommandFailedException(String message) {
        super(message);
    }
}
