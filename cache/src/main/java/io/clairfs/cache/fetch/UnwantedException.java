package io.clairfs.cache.fetch;

/** A fetch for a tier ended before the source was asked, for the plan no longer wants the sample. */
final class UnwantedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    UnwantedException() {
        super("the plan does not want it any more", null, false, false);
    }
}
