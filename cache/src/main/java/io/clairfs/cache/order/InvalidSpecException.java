package io.clairfs.cache.order;

import java.io.Serial;

/** The spec of an order or a job is invalid; the message is one line with the remedy. */
public sealed class InvalidSpecException extends Exception permits OrderNotReadyException {
    @Serial
    private static final long serialVersionUID = 1L;

    public InvalidSpecException(String message) {
        super(message);
    }
}
