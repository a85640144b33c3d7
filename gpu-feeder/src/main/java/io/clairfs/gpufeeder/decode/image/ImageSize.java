package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.clairfs.gpufeeder.decode.BadSampleException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** Width and height of an image, pixels. */
public record ImageSize(int width, int height) {
    private static final ValueLayout.OfInt BIG_INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Of a PNG file: its signature, then length, kind, width and height of its first chunk. */
    private static final int PNG_KIND_AT = 12;

    private static final int PNG_WIDTH_AT = 16;
    private static final int PNG_HEIGHT_AT = 20;
    private static final int PNG_LENGTH_AT = 8;
    private static final int PNG_SIZE_BYTES = 13;
    private static final int PNG_HEAD_BYTES = 33;
    private static final int IHDR = 'I' << 24 | 'H' << 16 | 'D' << 8 | 'R';

    public ImageSize {
        if (width < 1 || height < 1 || (long) width * height > Pixels.MOST_PIXELS) {
            throw new IllegalArgumentException(width + "x" + height + " pixels");
        }
    }

    /** Whether a file that begins with these bytes is taken for an image: JPEG or PNG. */
    public static boolean isImage(MemorySegment head) {
        return JpegHeader.begins(head) || JdkPng.begins(head);
    }

    /**
     * The size of an image, from its first bytes alone; null when they end too early to tell.
     *
     * @param head the first bytes of a file that {@link #isImage}
     * @param fileBytes the length of the whole file
     * @throws BadSampleException when they say that the file cannot be decoded
     */
    public static @Nullable ImageSize of(MemorySegment head, long fileBytes) throws BadSampleException {
        if (JpegHeader.begins(head)) {
            JpegHeader header = JpegHeader.ofFirst(head);
            return header == null ? null : new ImageSize(header.width(), header.height());
        }
        if (head.byteSize() < PNG_HEAD_BYTES) {
            return null;
        }
        int width = head.get(BIG_INT, PNG_WIDTH_AT);
        int height = head.get(BIG_INT, PNG_HEIGHT_AT);
        if (head.get(BIG_INT, PNG_KIND_AT) != IHDR
                || head.get(BIG_INT, PNG_LENGTH_AT) != PNG_SIZE_BYTES
                || width < 1
                || height < 1) {
            throw new BadSampleException("damaged PNG file: it does not begin with a size");
        }
        JdkPng.requireSound(head, PNG_LENGTH_AT, PNG_SIZE_BYTES);
        if (width > Pixels.LONGEST_SIDE || height > Pixels.LONGEST_SIDE || (long) width * height > Pixels.MOST_PIXELS) {
            throw new BadSampleException("PNG file of " + width + "x" + height + " pixels: up to " + Pixels.MOST_PIXELS
                    + " are decoded, " + Pixels.LONGEST_SIDE + " a side");
        }
        JdkPng.requirePlausible(width, height, fileBytes);
        return new ImageSize(width, height);
    }

    /** The size once the shorter side is resized, as torchvision's {@code Resize} of one number: the longer side is rounded down. */
    public ImageSize resized(int shorter) throws BadSampleException {
        long longer = (long) ((double) ((long) shorter * Math.max(width, height)) / Math.min(width, height));
        if (longer * shorter > Pixels.MOST_PIXELS) {
            throw new BadSampleException("image of " + width + "x" + height
                    + " pixels: too long and narrow to be resized to " + shorter + " pixels on its shorter side");
        }
        return width <= height ? new ImageSize(shorter, (int) longer) : new ImageSize((int) longer, shorter);
    }

    /** Bytes of its pixels, three each. */
    public long rgbBytes() {
        return (long) Pixels.CHANNELS * width * height;
    }
}
