package io.clairfs.cache.order;

import java.io.Serial;

/**
 * The order of an epoch cannot be computed yet: the user has still to write it, its file cannot be read now, or it is being computed. Callers
 * wait and ask again.
 */
public final class OrderNotReadyException extends InvalidSpecException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final boolean missing;

    /** @param message what is missing, in one line */
    public OrderNotReadyException(String message) {
        this(message, false);
    }

    /**
     * As the other constructor.
     *
     * @param missing whether there is no file
     */
    OrderNotReadyException(String message, boolean missing) {
        super(message);
        this.missing = missing;
    }

    /** Whether there is no file; else there is one, or that cannot be told now. */
    public boolean isMissing() {
        return missing;
    }
}
