package io.clairfs.gpufeeder.feed;

import io.clairfs.gpufeeder.device.Conversion;
import io.clairfs.gpufeeder.device.Device;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a feeder works.
 *
 * @param batch samples of a batch
 * @param dropLast whether the incomplete batch at the end of an epoch is left out
 * @param slots batches in the ring
 * @param threads that read and decode
 * @param labels where labels come from
 * @param onDevice where a copy of each batch goes, or null
 * @param asked what becomes of a file and of its batch, as the user put it
 */
public record FeedOptions(
        int batch,
        boolean dropLast,
        int slots,
        int threads,
        Labels labels,
        @Nullable OnDevice onDevice,
        String asked) {
    public FeedOptions {
        if (batch < 1 || threads < 1) {
            throw new IllegalArgumentException("batch " + batch + ", threads " + threads + ": both must be positive");
        }
    }

    /** What makes batches what they are beside their form, in words: that of two feeders is the same where both were started alike. */
    String wording() {
        return asked + "\n" + labels + "\n" + dropLast;
    }

    /** A device that gets a copy of each batch, and what becomes of it there; null: nothing. */
    public record OnDevice(Device device, @Nullable Conversion conversion) {}

    /** Where the labels of samples come from. */
    public sealed interface Labels {
        /** {@code directories}, {@code none}, or a file. */
        static Labels parse(@Nullable String text) {
            return switch (text) {
                case null -> new Directories();
                case "directories" -> new Directories();
                case "none" -> new None();
                default -> new Listed(Path.of(text));
            };
        }
    }

    /** The first directory of a sample's path, numbered as image folders number their classes. */
    public record Directories() implements Labels {}

    /** No labels: all are {@link SampleLabels#NONE}. */
    public record None() implements Labels {}

    /** A file with a number for each sample. */
    public record Listed(Path file) implements Labels {}
}
