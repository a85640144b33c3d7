package io.clairfs.tools.calibrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is measured, not how fast it is. */
final class DecodeSpeedTest {
    private static final DecodeOperation IMAGE = DecodeOperation.IMAGE;

    @TempDir
    private Path source;

    @Test
    void numbersOfThreads_areAllOfTheFew_andSomeOfTheMany() {
        assertThat(DecodeSpeed.threads(1)).containsExactly(1, 2);
        assertThat(DecodeSpeed.threads(6)).containsExactly(1, 2, 3, 4, 5, 6);
        assertThat(DecodeSpeed.threads(64)).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 12, 18, 27, 40, 60, 64);
    }

    @Test
    void ratesAreRounded_butNeverToZero() {
        assertThat(ThreadSweep.rounded(12_345.678)).isEqualTo(12_345.7);
        assertThat(ThreadSweep.rounded(571.4218)).isEqualTo(571.4);
        assertThat(ThreadSweep.rounded(0.000123456)).isEqualTo(0.0001235);
    }

    private void write(String name, int side) throws IOException {
        ImageIO.write(
                new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB),
                "bmp",
                source.resolve(name).toFile());
    }

    @Test
    void filesAroundThreePercentiles_areDecoded() throws IOException {
        for (int i = 0; i < 100; i++) {
            write(i + ".bmp", 10 + i);
        }
        Files.writeString(source.resolve("labels.txt"), "not an image");
        AtomicInteger steps = new AtomicInteger();
        Map<Long, Map<Integer, Double>> rates = DecodeSpeed.measure(source, IMAGE, 10, steps::incrementAndGet);
        assertThat(steps.get()).isEqualTo(DecodeSpeed.steps());
        assertThat(rates).hasSize(3).allSatisfy((bytes, ofSize) -> {
            assertThat(ofSize)
                    .containsOnlyKeys(DecodeSpeed.threads(Runtime.getRuntime().availableProcessors()));
            assertThat(ofSize.values()).allMatch(rate -> rate > 0);
        });
        List<Long> sizes = List.copyOf(rates.keySet());
        for (int i = 0; i < 3; i++) {
            double side = List.of(20, 60, 100).get(i);
            assertThat(sizes.get(i)).isBetween((long) (2.5 * side * side), (long) (3.9 * side * side));
        }
    }

    @Test
    void damagedFiles_areLeftOut_andASourceWithoutOthersIsRefused() throws IOException {
        for (int i = 0; i < 10; i++) {
            Files.writeString(source.resolve(i + ".png"), "damaged");
        }
        assertThatThrownBy(() -> DecodeSpeed.measure(source, IMAGE, 10, () -> {}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("can be decoded as image")
                .hasMessageContaining(".png: not an image");
        write("good.bmp", 20);
        assertThat(DecodeSpeed.measure(source, IMAGE, 10, () -> {})).hasSize(1);
    }

    @Test
    void whatTheFeederMakesOfImages_isMeasuredToo() throws Exception {
        for (int i = 0; i < 10; i++) {
            BufferedImage image = new BufferedImage(40 + i, 60, BufferedImage.TYPE_INT_RGB);
            ImageIO.write(image, "jpg", source.resolve(i + ".jpg").toFile());
        }
        DecodeOperation operation = DecodeOperation.of("image,size=32,crop=random");
        assertThat(operation.name()).isEqualTo("image,size=32,crop=random");
        Map<Long, Map<Integer, Double>> rates = DecodeSpeed.measure(source, operation, 10, () -> {});
        assertThat(rates)
                .isNotEmpty()
                .allSatisfy((bytes, ofSize) -> assertThat(ofSize.values()).allMatch(rate -> rate > 0));
        assertThat(DecodeOperation.of("image")).isSameAs(IMAGE);
        assertThatThrownBy(() -> DecodeOperation.of("cubes")).hasMessageContaining("'cubes' is no way to decode");
        assertThatThrownBy(() -> DecodeOperation.of("image").perThread().get().decode(new byte[3]))
                .hasMessageContaining("not an image");
        assertThatThrownBy(() -> DecodeOperation.of("npy")).hasMessageContaining("read as they are");
        assertThatThrownBy(() -> DecodeSpeed.measure(source, DecodeOperation.of("png,size=32"), 10, () -> {}))
                .hasMessageContaining("can be decoded as png,size=32")
                .hasMessageContaining("a JPEG file");
    }

    @Test
    void sourceWithoutImages_isRefusedWithTheirEndings() throws IOException {
        Files.writeString(source.resolve("a.npy"), "x");
        assertThatThrownBy(() -> DecodeSpeed.measure(source, IMAGE, 10, () -> {}))
                .hasMessageContaining("none has a name that ends in .jpg, .jpeg");
    }
}
