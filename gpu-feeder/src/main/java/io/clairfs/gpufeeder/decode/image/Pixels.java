package io.clairfs.gpufeeder.decode.image;

import java.lang.foreign.MemorySegment;

/**
 * A decoded image: rows of three bytes for each pixel, red first, without gaps.
 *
 * @param rgb valid until the decoder that made it decodes again
 */
record Pixels(MemorySegment rgb, int width, int height) {
    static final int CHANNELS = 3;

    /** As in JPEG; a PNG could have more. */
    static final int LONGEST_SIDE = 65_535;

    /** Where Pillow suspects a decompression bomb and refuses. */
    static final long MOST_PIXELS = 2L * (1024 * 1024 * 1024 / 4 / 3);

    Pixels {
        if (rgb.byteSize() < (long) CHANNELS * width * height) {
            throw new IllegalArgumentException(width + "x" + height + " pixels in " + rgb.byteSize() + " bytes");
        }
    }

    long rowBytes() {
        return (long) CHANNELS * width;
    }
}
