package io.clairfs.tools.mount;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.view.View;
import io.clairfs.gpufeeder.view.ViewSpec;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import javax.imageio.ImageIO;

/** Images, and what a view makes of them, made in this process without a mount. */
final class ShownImages {
    private static final int SHAPES = 40;

    private ShownImages() {}

    /**
     * Writes {@code count} different JPEG files to {@code source}, and what the view makes of each to {@code shown} under the same name.
     * Returns the bytes of all in {@code shown}.
     */
    static long make(Path source, Path shown, String view, int count, int width, int height)
            throws IOException, InvalidSpecException {
        Random random = new Random(11);
        for (int i = 0; i < count; i++) {
            BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
            Graphics2D graphics = image.createGraphics();
            for (int shape = 0; shape < SHAPES; shape++) {
                graphics.setColor(new Color(random.nextInt(1 << 24)));
                graphics.fillOval(
                        random.nextInt(width), random.nextInt(height), random.nextInt(width), random.nextInt(height));
            }
            graphics.dispose();
            ImageIO.write(image, "jpg", source.resolve("s%05d".formatted(i)).toFile());
        }
        View made = ViewSpec.parse(view).open();
        DirectorySource files = new DirectorySource(source);
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += make(files, source, shown, made, "s%05d".formatted(i));
        }
        return bytes;
    }

    private static long make(DirectorySource files, Path source, Path shown, View view, String name)
            throws IOException {
        byte[] content = Files.readAllBytes(source.resolve(name));
        SourceFile file = new SourceFile(name.getBytes(StandardCharsets.UTF_8), content.length, mtimeNs(source, name));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment whole = arena.allocate(content.length);
            MemorySegment.copy(content, 0, whole, ValueLayout.JAVA_BYTE, 0, content.length);
            MemorySegment into = arena.allocate(view.madeBytes(files, file));
            view.make(file, whole, into);
            Files.write(shown.resolve(name), into.toArray(ValueLayout.JAVA_BYTE));
            return into.byteSize();
        }
    }

    private static long mtimeNs(Path source, String name) throws IOException {
        java.time.Instant time = Files.getLastModifiedTime(source.resolve(name)).toInstant();
        return Math.addExact(Math.multiplyExact(time.getEpochSecond(), 1_000_000_000L), time.getNano());
    }
}
