package io.clairfs.cache.order;

import java.io.Serial;

/** The order of an epoch cannot be computed yet: the user has still to write it. Whoever needs it waits, and asks again later. */
public final class OrderNotReadyException extends InvalidSpecException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** @param message what is missing, in one line */
    public OrderNotReadyException(String message) {
        super(message);
    }
}
