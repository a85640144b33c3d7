package io.clairfs.gpufeeder.decode;

import java.lang.foreign.MemorySegment;

/** Files that are a sample of one format, after so many bytes that are passed over. */
public record RawDecoding(SampleFormat format, int headerBytes) implements Decoding, SampleDecoder.Payload {
    public RawDecoding {
        if (headerBytes < 0) {
            throw new IllegalArgumentException("offset " + headerBytes);
        }
    }

    @Override
    public SampleDecoder open() {
        return this; // it keeps nothing
    }

    @Override
    public void check(MemorySegment header, long fileBytes) throws BadSampleException {
        long expected = headerBytes + format.bytes();
        if (fileBytes != expected) {
            throw new BadSampleException("file of " + fileBytes + " bytes: " + expected + " are expected");
        }
    }
}
