package io.clairfs.cache.dataset;

import java.io.Serial;

/** The dataset is not what the index rule expects; the message says what to do. */
public final class DatasetException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    public DatasetException(String message) {
        super(message);
    }
}
