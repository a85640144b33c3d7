package io.clairfs.cache.order;

import java.io.Serial;

/** The order of an epoch cannot be computed yet: the user has still to write it. Callers wait and ask again. */
public final class OrderNotReadyException extends InvalidSpecException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** @param message what is missing, in one line */
    public OrderNotReadyException(String message) {
        super(message);
    }
}
