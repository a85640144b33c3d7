package io.clairfs.gpufeeder.decode;

/** What is done to every sample of a feed. Shared by threads: each opens a decoder of its own, or one that keeps nothing. */
public interface Decoding {
    SampleFormat format();

    SampleDecoder open();
}
