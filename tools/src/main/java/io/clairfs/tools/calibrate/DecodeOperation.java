package io.clairfs.tools.calibrate;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.spec.DecodeSpec;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import javax.imageio.ImageIO;

/**
 * A way to preprocess samples that can be measured.
 *
 * @param name as in {@code calibrate --decode NAME}, and in the file that it writes
 * @param endings of the names of files that it decodes, in lower case; empty for any file
 * @param perThread makes what one thread decodes with
 */
public record DecodeOperation(String name, List<String> endings, Supplier<SampleWork> perThread) {
    private static final int PAGE = 4096;
    private static final List<String> IMAGES = List.of(".jpg", ".jpeg", ".png");

    /** Decodes images whole, by the JDK. */
    static final DecodeOperation IMAGE = new DecodeOperation(
            "image", List.of(".jpg", ".jpeg", ".png", ".bmp", ".gif"), () -> DecodeOperation::image);

    /**
     * The operation of a name: {@code image}, or what the feeder does with images, such as {@code image,size=224,resize=256}.
     *
     * @throws InvalidSpecException in one line, where it is neither
     */
    public static DecodeOperation of(String text) throws InvalidSpecException {
        if (text.equals(IMAGE.name)) {
            return IMAGE;
        }
        if (!(DecodeSpec.parse(text) instanceof DecodeSpec.Image image)) {
            throw new InvalidSpecException(
                    "nothing is to be measured: those files are read as they are, without decoding");
        }
        return new DecodeOperation(text, IMAGES, () -> new FeederWork(image.decoding(Path.of(""))));
    }

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

    /** What a thread of the feeder does with a sample, in memory of its own. */
    private static final class FeederWork implements SampleWork {
        private final Arena arena = Arena.ofAuto();
        private final SampleDecoder.Content decoder;
        private final MemorySegment slot;
        private MemorySegment file = arena.allocate(1);

        private FeederWork(Decoding decoding) {
            decoder = (SampleDecoder.Content) decoding.open();
            slot = arena.allocate(decoding.format().bytes(), PAGE);
        }

        @Override
        public void decode(byte[] content) throws IOException {
            if (file.byteSize() < content.length) {
                file = arena.allocate(content.length);
            }
            MemorySegment.copy(content, 0, file, ValueLayout.JAVA_BYTE, 0, content.length);
            decoder.decode(file.asSlice(0, content.length), 0, slot);
        }
    }
}
