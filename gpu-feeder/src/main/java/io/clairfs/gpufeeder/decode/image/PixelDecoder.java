package io.clairfs.gpufeeder.decode.image;

import io.clairfs.gpufeeder.decode.BadSampleException;
import java.lang.foreign.MemorySegment;

/** Decodes whole files of one kind. Used by one thread at a time, and closed by it. */
interface PixelDecoder extends AutoCloseable {
    /**
     * All pixels of the image.
     *
     * @param file the whole file, in native memory
     * @throws BadSampleException when the file is damaged, incomplete, too large, or of a kind that is not decoded
     */
    Pixels decode(MemorySegment file) throws BadSampleException;

    @Override
    default void close() {}
}
