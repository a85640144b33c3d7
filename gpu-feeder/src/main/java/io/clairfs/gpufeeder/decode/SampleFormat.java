package io.clairfs.gpufeeder.decode;

import java.util.List;

/**
 * What one sample is in a batch: an array in C order. All samples of a feed have the same format.
 *
 * @param shape the extent of each dimension, outermost first; empty for a single element
 */
public record SampleFormat(ElementType type, List<Integer> shape) {
    /** So many have room in the header of a ring. */
    public static final int MOST_DIMENSIONS = 16;

    public SampleFormat {
        shape = List.copyOf(shape);
        if (shape.size() > MOST_DIMENSIONS) {
            throw new IllegalArgumentException(
                    shape.size() + " dimensions: there may be " + MOST_DIMENSIONS + " at most");
        }
        long elements = 1;
        for (int extent : shape) {
            if (extent <= 0) {
                throw new IllegalArgumentException("shape " + shape + ": each extent must be positive");
            }
            elements = Math.multiplyExact(elements, extent);
        }
        Math.multiplyExact(elements, type.bytes());
    }

    public long bytes() {
        long bytes = type.bytes();
        for (int extent : shape) {
            bytes *= extent;
        }
        return bytes;
    }
}
