package io.clairfs.cache.fetch;

/** A loader that stages a sample, as its fetch knows it. */
public interface Stager {
    /** The source has given all bytes; called on the thread that fetches, before readers who wait for the sample are served. */
    void bytesArrived();

    /** How long the fetch may take, by what is known of the trainer, before it waits; 0 when nothing is known. May be called several times. */
    double spareSeconds();
}
