package io.clairfs.gpufeeder.decode;

import java.lang.foreign.MemorySegment;

/** Brings the content of one file into the form of a batch. Used by one thread at a time, and closed by it. */
public sealed interface SampleDecoder extends AutoCloseable {
    /** Of every sample that this decoder writes. */
    SampleFormat format();

    @Override
    default void close() {}

    /** The file's bytes behind a header are the sample as it is: they are read straight into its place in the batch. */
    non-sealed interface Payload extends SampleDecoder {
        /** How many leading bytes of the file are read aside, at most. The payload follows them. */
        int headerBytes();

        /**
         * Looks at a header before the payload counts as the sample.
         *
         * @param header the first {@link #headerBytes} bytes
         * @param fileBytes the length of the whole file
         * @throws BadSampleException when type, shape or length is not that of {@link #format}
         */
        void check(MemorySegment header, long fileBytes) throws BadSampleException;
    }

    /** The file is decoded: an image, for one. */
    non-sealed interface Content extends SampleDecoder {
        /**
         * Writes the decoded sample.
         *
         * @param file the whole file, in native memory
         * @param key of this sample in this epoch: random crops and flips follow from it alone
         * @param slot the sample's place in the batch, of {@link #format}'s bytes
         */
        void decode(MemorySegment file, long key, MemorySegment slot) throws BadSampleException;
    }
}
