package io.clairfs.tools.demo;

import java.io.IOException;
import java.io.Serial;

/** The demonstration failed. The message is one line, with the remedy if there is one. */
public final class DemoException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    public DemoException(String message) {
        super(message);
    }
}
