package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/** CMYK to RGB as Pillow converts it: what is in the file is inverted, as Adobe writes it, and the black is a share of each color. */
final class InkColors {
    private static final int INKS = 4;

    private InkColors() {}

    /** Converts so many pixels in place, from four bytes each to three. */
    static void toRgb(MemorySegment pixels, long count) {
        for (long i = 0; i < count; i++) {
            int white = pixels.get(JAVA_BYTE, INKS * i + 3) & 0xFF;
            for (int c = 0; c < Pixels.CHANNELS; c++) {
                int ink = 255 - (pixels.get(JAVA_BYTE, INKS * i + c) & 0xFF);
                pixels.set(JAVA_BYTE, Pixels.CHANNELS * i + c, (byte) (white - share(ink, white)));
            }
        }
    }

    /** a * b / 255, rounded. */
    private static int share(int a, int b) {
        int product = a * b + 128;
        return ((product >> 8) + product) >> 8;
    }
}
