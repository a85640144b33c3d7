package io.clairfs.gpufeeder.device;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.ring.RingLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a kernel makes of images of uint8 on the device: {@code (value / 255 - mean) / std} as floating-point numbers in planes of channels, as torchvision's
 * ToTensor and Normalize do, and mirrored left to right for half of the samples.
 *
 * @param type float16 or float32
 * @param mean of each channel; one for all of them, or as many as there are
 * @param std of each channel, in the same way; never 0
 * @param flip whether half of the samples are mirrored: the same that {@code flip=random} of the decoding would have mirrored
 */
public record Conversion(ElementType type, List<Double> mean, List<Double> std, boolean flip) {
    static final int MOST_CHANNELS = 4;

    /** The kernel has a row of blocks for each sample, and CUDA so many rows. */
    private static final int MOST_SAMPLES = 65_535;

    public Conversion {
        mean = List.copyOf(mean);
        std = List.copyOf(std);
    }

    /**
     * Parses {@code dtype=float16|float32[,mean=A:B:C][,std=A:B:C][,flip=none|random]}.
     *
     * @throws InvalidSpecException in one line, with the wrong value and what is allowed
     */
    public static Conversion parse(String text) throws InvalidSpecException {
        Keys keys = Keys.parse(text.replace(',', ' '));
        if (!keys.has("dtype")) {
            throw new InvalidSpecException("dtype is missing: float16 or float32");
        }
        ElementType type = keys.choice("dtype", "float16", "float32") == 0 ? ElementType.FLOAT16 : ElementType.FLOAT32;
        List<Double> mean = numbers("mean", keys.text("mean"), 0);
        List<Double> std = numbers("std", keys.text("std"), 1);
        boolean flip = keys.choice("flip", "none", "random") == 1;
        keys.requireAllUsed();
        if (std.contains(0.0)) {
            throw new InvalidSpecException("std=" + keys.text("std") + " has a 0, by which nothing can be divided");
        }
        return new Conversion(type, mean, std, flip);
    }

    private static List<Double> numbers(String key, @Nullable String text, double otherwise)
            throws InvalidSpecException {
        if (text == null) {
            return List.of(otherwise);
        }
        List<Double> numbers = new ArrayList<>();
        for (String piece : text.split(":", -1)) {
            try {
                numbers.add(Double.valueOf(piece));
            } catch (NumberFormatException _) {
                numbers.add(Double.NaN);
            }
        }
        if (numbers.size() > MOST_CHANNELS || numbers.stream().anyMatch(number -> !Double.isFinite(number))) {
            throw new InvalidSpecException(key + "=" + Keys.shorten(text) + " is none: 1 to " + MOST_CHANNELS
                    + " numbers with colons between them, such as 0.485:0.456:0.406");
        }
        return numbers;
    }

    /**
     * Whether batches of so many samples of this format can be converted.
     *
     * @throws InvalidSpecException in one line, where they cannot
     */
    public void requireFits(SampleFormat from, int batch) throws InvalidSpecException {
        if (batch > MOST_SAMPLES) {
            throw new InvalidSpecException(
                    "batches of " + batch + " samples cannot be converted: " + MOST_SAMPLES + " at most");
        }
        Planes planes = Planes.of(from);
        if (planes == null) {
            throw new InvalidSpecException("samples of " + from.type().typestr() + " " + from.shape()
                    + " are no images of uint8: a height, a width and up to " + MOST_CHANNELS
                    + " channels, the channels first or last, and more pixels than that in each line and column");
        }
        for (List<Double> each : List.of(mean, std)) {
            if (each.size() != 1 && each.size() != planes.channels()) {
                throw new InvalidSpecException("mean and std have one number, or one for each of the "
                        + planes.channels() + " channels, not " + each.size());
            }
        }
    }

    /** The slots of converted batches. */
    RingLayout layout(RingLayout from) {
        Planes planes = planes(from);
        return new RingLayout(
                from.slots(),
                from.batch(),
                new SampleFormat(type, List.of(planes.channels(), planes.height(), planes.width())));
    }

    static Planes planes(RingLayout from) {
        Planes planes = Planes.of(from.format());
        if (planes == null) {
            throw new IllegalArgumentException("no images: " + from.format());
        }
        return planes;
    }

    /** What a value of a channel is multiplied by. */
    float scale(int channel) {
        return (float) (1 / (255 * of(std, channel)));
    }

    /** What is then added. */
    float bias(int channel) {
        return (float) (-of(mean, channel) / of(std, channel));
    }

    private static double of(List<Double> numbers, int channel) {
        return numbers.get(Math.min(channel, numbers.size() - 1));
    }

    /**
     * Where the values of an image lie.
     *
     * @param pixel from one pixel to the next, bytes
     * @param plane from one channel to the next, bytes
     */
    record Planes(int channels, int height, int width, int pixel, int plane) {
        static @Nullable Planes of(SampleFormat format) {
            List<Integer> shape = format.shape();
            if (format.type() != ElementType.UINT8 || shape.size() != 3 || Collections.max(shape) > 1 << 15) {
                return null;
            }
            boolean first = shape.getFirst() <= MOST_CHANNELS;
            boolean last = shape.getLast() <= MOST_CHANNELS;
            if (first == last) { // none are channels, or nobody can tell which
                return null;
            }
            return first
                    ? new Planes(shape.getFirst(), shape.get(1), shape.get(2), 1, shape.get(1) * shape.get(2))
                    : new Planes(shape.getLast(), shape.get(0), shape.get(1), shape.getLast(), 1);
        }
    }
}
