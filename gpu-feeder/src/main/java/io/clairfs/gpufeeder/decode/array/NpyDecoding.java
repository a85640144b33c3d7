package io.clairfs.gpufeeder.decode.array;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** {@code .npy} files, all of one type and shape. What follows the array in a file is left alone, as numpy does. */
public final class NpyDecoding implements Decoding, SampleDecoder.Payload {
    private final NpyHeader expected;

    private NpyDecoding(NpyHeader expected) {
        this.expected = expected;
    }

    /**
     * Files like this one.
     *
     * @throws BadSampleException when it is no {@code .npy} file, or one that is not taken
     */
    public static NpyDecoding like(Path example) throws IOException {
        return new NpyDecoding(
                NpyHeader.of(FirstBytes.of(example, NpyHeader.MOST_BYTES).bytes()));
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
        return expected.bytes();
    }

    @Override
    public void check(MemorySegment header, long fileBytes) throws BadSampleException {
        int bytes = NpyHeader.bytes(header);
        if (bytes > header.byteSize() && bytes <= fileBytes) { // all that was read is as long as the first file's
            throw otherHeader(bytes);
        }
        NpyHeader found = NpyHeader.of(header);
        if (!found.format().equals(format())) {
            throw new BadSampleException(
                    ".npy file of " + name(found.format()) + ": the first file is of " + name(format()));
        }
        if (found.bytes() != expected.bytes()) {
            throw otherHeader(found.bytes());
        }
        if (fileBytes < headerBytes() + format().bytes()) {
            throw new BadSampleException("truncated .npy file: " + fileBytes + " bytes, its array ends at "
                    + (headerBytes() + format().bytes()));
        }
    }

    private BadSampleException otherHeader(int bytes) {
        return new BadSampleException(".npy file with a header of " + bytes + " bytes: the first file has "
                + expected.bytes() + "; save all with the same version of numpy");
    }

    private static String name(SampleFormat format) {
        return format.type().typestr() + " " + format.shape();
    }
}
