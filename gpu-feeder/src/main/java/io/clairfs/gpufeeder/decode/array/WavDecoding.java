package io.clairfs.gpufeeder.decode.array;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** Wav files of 16-bit PCM, all of one length, rate and number of channels. What follows the data in a file is left alone. */
public final class WavDecoding implements Decoding, SampleDecoder.Payload {
    private final WavHeader expected;

    private WavDecoding(WavHeader expected) {
        this.expected = expected;
    }

    /**
     * Files like this one.
     *
     * @throws BadSampleException when it is no wav file, or one that is not taken
     */
    public static WavDecoding like(Path example) throws IOException {
        FirstBytes first = FirstBytes.of(example, WavHeader.BYTES);
        return new WavDecoding(WavHeader.of(first.bytes(), first.fileBytes()));
    }

    @Override
    public SampleFormat format() {
        return expected.format();
    }

    @Override
    public SampleDecoder open() {
        return this; // it keeps nothing
    }

    @Override
    public int headerBytes() {
        return WavHeader.BYTES;
    }

    @Override
    public void check(MemorySegment header, long fileBytes) throws BadSampleException {
        WavHeader found = WavHeader.of(header, fileBytes);
        if (!found.equals(expected)) {
            throw new BadSampleException("wav file of " + found + ": the first file has " + expected);
        }
    }
}
