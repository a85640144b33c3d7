package io.clairfs.tools.calibrate;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import javax.imageio.ImageIO;

/**
 * A way to preprocess samples that can be measured. Another one is another entry of {@link #ALL}.
 *
 * @param name as in {@code calibrate --decode NAME}, and in the file that it writes
 * @param endings of the names of files that it decodes, in lower case; empty for any file
 * @param perThread makes what one thread decodes with
 */
public record DecodeOperation(String name, List<String> endings, Supplier<SampleWork> perThread) {
    /** The operations that there are. */
    public static final List<DecodeOperation> ALL = List.of(new DecodeOperation(
            "image", List.of(".jpg", ".jpeg", ".png", ".bmp", ".gif"), () -> DecodeOperation::image));

    public DecodeOperation {
        endings = List.copyOf(endings);
    }

    /** What becomes of the content of one file. */
    @FunctionalInterface
    public interface SampleWork {
        /** Decodes it. Throws if it cannot be decoded. */
        void decode(byte[] content) throws IOException;
    }

    boolean takes(String fileName) {
        String name = fileName.toLowerCase(Locale.ROOT);
        return endings.isEmpty() || endings.stream().anyMatch(name::endsWith);
    }

    private static void image(byte[] content) throws IOException {
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(content));
        if (image == null) {
            throw new IOException("not an image");
        }
    }
}
