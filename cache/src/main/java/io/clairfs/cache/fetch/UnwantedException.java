package io.clairfs.cache.fetch;

/** A fetch ended before the source was asked: the plan no longer wants the sample, or it is not to come from there as a whole. */
final class UnwantedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    UnwantedException() {
        super("not wanted as a whole from the source", null, false, false);
    }
}
