package io.clairfs.cache.order;

import java.io.Serial;

/** What a user wrote about an order or a job cannot be; the message is one line with the remedy. */
public sealed class InvalidSpecException extends Exception permits OrderNotReadyException {
    @Serial
    private static final long serialVersionUID = 1L;

    public InvalidSpecException(String message) {
        super(message);
    }
}
