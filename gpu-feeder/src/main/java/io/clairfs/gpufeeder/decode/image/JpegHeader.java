package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.clairfs.gpufeeder.decode.BadSampleException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What the segments before the first scan of a JPEG file say (ITU-T T.81, annex B; Adobe's and JFIF's application segments).
 *
 * <p>It is read here, not by TurboJPEG, because TurboJPEG 2 does not tell the size of files whose subsampling it has no name for, though it
 * decodes them.
 */
record JpegHeader(int width, int height, ColorSpace colors) {
    /** What the components of the file are, by libjpeg's rules. */
    enum ColorSpace {
        GREY(1),
        RGB(3),
        YCC(3),
        CMYK(4),
        YCCK(4);

        private final int components;

        ColorSpace(int components) {
            this.components = components;
        }

        int components() {
            return components;
        }
    }

    private static final int START_OF_IMAGE = 0xD8;
    private static final int END_OF_IMAGE = 0xD9;
    private static final int START_OF_SCAN = 0xDA;
    private static final int APP0 = 0xE0;
    private static final int APP14 = 0xEE;
    private static final int FIRST_FRAME = 0xC0;
    private static final int LAST_FRAME = 0xCF;
    private static final int HUFFMAN_TABLES = 0xC4;
    private static final int RESERVED = 0xC8;
    private static final int ARITHMETIC_CONDITIONS = 0xCC;

    /** Of Adobe's segment, when it is not there. */
    private static final int NONE = -1;

    static boolean begins(MemorySegment file) {
        return file.byteSize() >= 3 && at(file, 0) == 0xFF && at(file, 1) == START_OF_IMAGE && at(file, 2) == 0xFF;
    }

    static JpegHeader of(MemorySegment file) throws BadSampleException {
        JpegHeader header = parse(file, false);
        if (header == null) {
            throw new BadSampleException(
                    "truncated JPEG file: it ends within its header, after " + file.byteSize() + " bytes");
        }
        return header;
    }

    /** Width and height alone count, from the first bytes of a file; null when they end before both are told. */
    static @Nullable JpegHeader ofFirst(MemorySegment head) throws BadSampleException {
        return parse(head, true);
    }

    /**
     * Whether the file has an end of its image where a decoder looks for one: behind a scan, segment by segment. The same two bytes at the end of a file, within a
     * segment whose length is damaged, are none.
     */
    static boolean isEnded(MemorySegment file) {
        long at = 2;
        while (true) {
            at = behindNextMarker(file, at);
            if (at > file.byteSize()) {
                return false;
            }
            int marker = at(file, at - 1);
            if (marker == END_OF_IMAGE) {
                return true;
            }
            if (hasSegment(marker)) {
                if (at + 2 > file.byteSize()) {
                    return false;
                }
                at += Math.max(2, word(file, at));
            }
        }
    }

    /** Coded data and bytes between segments are skipped, as libjpeg does; beyond the file when there is no marker. */
    private static long behindNextMarker(MemorySegment file, long from) {
        long at = from;
        while (at < file.byteSize() && at(file, at) != 0xFF) {
            at++;
        }
        while (at < file.byteSize() && at(file, at) == 0xFF) {
            at++;
        }
        return at + 1;
    }

    /** Whether a length follows; not behind a stuffed zero, TEM, restarts and the start of an image. */
    private static boolean hasSegment(int marker) {
        return marker != 0 && marker != 1 && (marker < 0xD0 || marker > START_OF_IMAGE);
    }

    /** Null when the file ends too early. */
    private static @Nullable JpegHeader parse(MemorySegment file, boolean frameAlone) throws BadSampleException {
        if (!begins(file)) {
            throw new BadSampleException("not a JPEG file: it does not begin with FF D8 FF");
        }
        boolean jfif = false;
        int adobe = NONE;
        long frame = NONE;
        long at = 2;
        while (true) {
            at = behindNextMarker(file, at);
            if (at > file.byteSize()) {
                return null;
            }
            int marker = at(file, at - 1);
            if (!hasSegment(marker)) {
                continue;
            }
            if (marker == END_OF_IMAGE) {
                throw new BadSampleException("JPEG file without an image");
            }
            if (at + 2 > file.byteSize()) {
                return null;
            }
            int length = word(file, at);
            if (length < 2) {
                throw new BadSampleException("JPEG segment of " + length + " bytes at " + at);
            }
            if (at + length > file.byteSize()) {
                return null;
            }
            if (marker == START_OF_SCAN) {
                break;
            } else if (marker == APP0) {
                jfif |= length >= 16 && isText(file, at + 2, "JFIF\0");
            } else if (marker == APP14 && length >= 14 && isText(file, at + 2, "Adobe")) {
                adobe = at(file, at + 13);
            } else if (isFrame(marker)) {
                if (frame != NONE || length < 8 || length < 8 + 3 * at(file, at + 7)) {
                    throw new BadSampleException("JPEG file with a damaged or second frame header");
                }
                frame = at;
                if (frameAlone) {
                    break;
                }
            }
            at += length;
        }
        if (frame == NONE) {
            throw new BadSampleException("JPEG file without a frame header");
        }
        return ofFrame(file, frame, jfif, adobe);
    }

    private static JpegHeader ofFrame(MemorySegment file, long frame, boolean jfif, int adobe)
            throws BadSampleException {
        int bits = at(file, frame + 2);
        int height = word(file, frame + 3);
        int width = word(file, frame + 5);
        int components = at(file, frame + 7);
        if (bits != 8) {
            throw new BadSampleException("JPEG file of " + bits + " bits a channel: 8 are decoded");
        }
        if (width == 0 || height == 0 || (long) width * height > Pixels.MOST_PIXELS) {
            throw new BadSampleException(
                    "JPEG file of " + width + "x" + height + " pixels: 1 to " + Pixels.MOST_PIXELS + " are decoded");
        }
        ColorSpace colors = switch (components) {
            case 1 -> ColorSpace.GREY;
            case 3 -> threeColors(file, frame, jfif, adobe);
            case 4 -> adobe == NONE || adobe == 0 ? ColorSpace.CMYK : ColorSpace.YCCK; // as libjpeg takes unknown ones
            default ->
                throw new BadSampleException("JPEG file of " + components + " components: 1, 3 or 4 are decoded");
        };
        return new JpegHeader(width, height, colors);
    }

    private static ColorSpace threeColors(MemorySegment file, long frame, boolean jfif, int adobe) {
        if (jfif) {
            return ColorSpace.YCC;
        }
        if (adobe != NONE) {
            return adobe == 0 ? ColorSpace.RGB : ColorSpace.YCC;
        }
        boolean named = at(file, frame + 8) == 'R' && at(file, frame + 11) == 'G' && at(file, frame + 14) == 'B';
        return named ? ColorSpace.RGB : ColorSpace.YCC;
    }

    private static boolean isFrame(int marker) {
        return marker >= FIRST_FRAME
                && marker <= LAST_FRAME
                && marker != HUFFMAN_TABLES
                && marker != RESERVED
                && marker != ARITHMETIC_CONDITIONS;
    }

    private static boolean isText(MemorySegment file, long at, String text) {
        for (int i = 0; i < text.length(); i++) {
            if (at(file, at + i) != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private static int at(MemorySegment file, long at) {
        return file.get(JAVA_BYTE, at) & 0xFF;
    }

    private static int word(MemorySegment file, long at) {
        return at(file, at) << 8 | at(file, at + 1);
    }
}
