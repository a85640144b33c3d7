package io.clairfs.gpufeeder.decode;

import java.lang.foreign.MemorySegment;

/** Files that are a sample of one format, after so many bytes that are passed over. */
public record RawDecoding(SampleFormat format, int offset) implements Decoding {
    public RawDecoding {
        if (offset < 0) {
            throw new IllegalArgumentException("offset " + offset);
        }
    }

    @Override
    public SampleDecoder open() {
        return new Decoder(format, offset);
    }

    private record Decoder(SampleFormat format, int headerBytes) implements SampleDecoder.Payload {
        @Override
        public void check(MemorySegment header, long fileBytes) throws BadSampleException {
            long expected = headerBytes + format.bytes();
            if (fileBytes != expected) {
                throw new BadSampleException("file of " + fileBytes + " bytes: " + expected + " are expected");
            }
        }
    }
}
