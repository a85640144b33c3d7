package io.clairfs.cache.plan.request;

/** How large samples are. */
@FunctionalInterface
public interface SampleSizes {
    /** Bytes of {@code sample}, never negative. */
    long bytes(int sample);
}
