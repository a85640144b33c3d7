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
    private final boolean unanswered;

    /** @param message what is missing, in one line */
    public OrderNotReadyException(String message) {
        this(message, false, false);
    }

    /**
     * As the other constructor.
     *
     * @param missing whether there is no file
     */
    OrderNotReadyException(String message, boolean missing) {
        this(message, missing, false);
    }

    private OrderNotReadyException(String message, boolean missing, boolean unanswered) {
        super(message);
        this.missing = missing;
        this.unanswered = unanswered;
    }

    /** A file does not answer; {@code what} says which. */
    static OrderNotReadyException unanswered(String what) {
        return new OrderNotReadyException(noAnswerOf(what), false, true);
    }

    /** What to say of a file that does not answer. */
    static String noAnswerOf(String what) {
        return what + " does not answer: look at its file system";
    }

    /** Whether there is no file; else there is one, or that cannot be told now. */
    public boolean isMissing() {
        return missing;
    }

    /** Whether a file did not answer in time. */
    public boolean isUnanswered() {
        return unanswered;
    }
}
