package io.clairfs.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoDatasetTest {
    private static final int FILES = 60;

    @TempDir
    Path directory;

    private static Map<String, byte[]> files(Path root) throws IOException {
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                files.put(root.relativize(file).toString(), Files.readAllBytes(file));
            }
        }
        return files;
    }

    @Test
    void filesArePicturesOfTheExpectedSizeInTenClasses() throws IOException {
        DemoDataset.make(directory, FILES, 1, _ -> {});
        Map<String, byte[]> files = files(directory);
        assertThat(files).hasSize(FILES);
        assertThat(files.keySet().stream().map(path -> path.substring(0, path.indexOf('/'))))
                .containsOnly(Stream.iterate(0, i -> i < 10, i -> i + 1)
                        .map(i -> "class_0" + i)
                        .toArray(String[]::new));
        assertThat(files.values().stream()
                        .mapToInt(content -> content.length)
                        .average()
                        .orElseThrow())
                .isBetween(105_000.0, 115_000.0);
        // More than 31 pages could cost a reader with an unaligned buffer two requests.
        assertThat(files.values())
                .allSatisfy(content -> assertThat(content.length).isBetween(80_000, 31 * 4096));
        for (String path : files.keySet()) {
            BufferedImage image = ImageIO.read(directory.resolve(path).toFile());
            assertThat(image.getWidth()).isEqualTo(400);
            assertThat(image.getHeight()).isBetween(300, 360);
        }
    }

    @Test
    void theSameSeedMakesTheSameFilesAndAnotherSeedNoneOfThem() throws IOException {
        Path first = directory.resolve("first");
        Path again = directory.resolve("again");
        Path other = directory.resolve("other");
        Content content = DemoDataset.make(first, FILES, 1, _ -> {});
        assertThat(DemoDataset.make(again, FILES, 1, _ -> {})).isEqualTo(content);
        assertThat(files(again)).containsExactlyInAnyOrderEntriesOf(files(first));
        DemoDataset.make(other, FILES, 2, _ -> {});
        assertThat(files(other).values())
                .doesNotContainAnyElementsOf(files(first).values());
    }

    @Test
    void theContentIsSummedUpAndProgressCountsEveryFile() throws IOException {
        ConcurrentSkipListSet<Long> told = new ConcurrentSkipListSet<>();
        Content content = DemoDataset.make(directory, FILES, 1, told::add);
        assertThat(told)
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, FILES).boxed().toList());
        Map<String, byte[]> files = files(directory);
        assertThat(content)
                .isEqualTo(new Content(
                        FILES,
                        files.values().stream().mapToLong(bytes -> bytes.length).sum(),
                        files.values().stream()
                                .mapToLong(DemoDatasetTest::crc32)
                                .sum()));
    }

    private static long crc32(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }

    @Test
    void aFileThatCannotBeWrittenEndsItWithOneLine() throws IOException {
        Path inTheWay = directory.resolve("class_03/image_000003.jpg");
        Files.createDirectories(inTheWay);
        try {
            DemoDataset.make(directory, FILES, 1, _ -> {});
        } catch (DemoException e) {
            assertThat(e).hasMessageContaining("cannot make the dataset").hasMessageContaining("image_000003.jpg");
            return;
        } catch (UncheckedIOException e) {
            throw new AssertionError("wrapped", e);
        }
        throw new AssertionError("made although a file could not be written");
    }
}
