package io.clairfs.gpufeeder.feed;

import java.io.IOException;

/** The order of an epoch, the job itself, or the next process of the mount is not there yet; later it may be. The message says what is waited for. */
final class OrderLaterException extends IOException {
    private static final long serialVersionUID = 1;

    OrderLaterException(String message) {
        super(message);
    }
}
