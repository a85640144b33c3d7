package io.clairfs.gpufeeder.decode.image;

import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.util.List;

/**
 * What becomes of an image: three channels of uint8, red first, always of the same size.
 *
 * @param kind the files that are taken
 * @param height of a sample, pixels
 * @param width of a sample, pixels
 * @param resize what an image's shorter side is resized to before the central crop, pixels; used with {@link Crop#CENTER} alone
 * @param flip whether half of the samples are mirrored left to right
 */
public record ImageForm(Kind kind, int height, int width, Layout layout, Crop crop, int resize, boolean flip) {
    /** The most pixels that a side of a sample, or the shorter side of a resized image, may have. */
    public static final int LONGEST_SIDE = 16_384;

    private static final int CHANNELS = 3;

    /** The files that are taken. */
    public enum Kind {
        ANY,
        JPEG,
        PNG
    }

    /** Where the channels are: planes, or three bytes for each pixel. */
    public enum Layout {
        NCHW,
        NHWC
    }

    /** Which part of an image becomes the sample. */
    public enum Crop {
        /** The middle, after the shorter side was resized. */
        CENTER,
        /** A part of random area, aspect ratio and place, resized: {@link RandomCrop}. */
        RANDOM,
        /** All of it, resized without regard to its aspect ratio. */
        NONE
    }

    public ImageForm {
        if (height < 1 || height > LONGEST_SIDE || width < 1 || width > LONGEST_SIDE) {
            throw new IllegalArgumentException("size " + height + "x" + width + ": each side has 1 to " + LONGEST_SIDE);
        }
        if (crop == Crop.CENTER && (resize < Math.max(height, width) || resize > LONGEST_SIDE)) {
            throw new IllegalArgumentException(
                    "resize " + resize + ": " + Math.max(height, width) + " to " + LONGEST_SIDE + " hold the crop");
        }
    }

    SampleFormat format() {
        return new SampleFormat(
                ElementType.UINT8,
                switch (layout) {
                    case NCHW -> List.of(CHANNELS, height, width);
                    case NHWC -> List.of(height, width, CHANNELS);
                });
    }
}
