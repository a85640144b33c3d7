package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.PythonScript;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.image.Framing.Region;
import io.clairfs.gpufeeder.decode.image.ImageForm.Crop;
import io.clairfs.gpufeeder.decode.image.ImageForm.Kind;
import io.clairfs.gpufeeder.decode.image.ImageForm.Layout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Images of many kinds and sizes, decoded and cropped, against Pillow. {@code -Dclairfs.decode.images=500} takes more than the usual number; {@code
 * .ci/long-run decode} does.
 */
@Tag("long")
final class PillowTest {
    private static final int IMAGES = Integer.getInteger("clairfs.decode.images", 72);

    private static final List<ImageForm> FORMS = List.of(
            new ImageForm(Kind.ANY, 64, 64, Layout.NCHW, Crop.CENTER, 73, false),
            new ImageForm(Kind.ANY, 48, 41, Layout.NHWC, Crop.RANDOM, 0, true),
            new ImageForm(Kind.ANY, 31, 130, Layout.NCHW, Crop.NONE, 0, true));

    /** Files without Huffman tables, as of cameras; the JDK knows no tables to take instead. */
    private static final String WITHOUT_TABLES = "notables.jpg";

    @TempDir
    static Path directory;

    private static List<Case> cases = List.of();

    /** One image in one form; {@code index} names the files of both sides. */
    private record Case(int index, String file, ImageForm form, long key, boolean damaged) {}

    @BeforeAll
    static void askPillow() throws Exception {
        cases = cases(PythonScript.run(
                directory, "PIL", "pillow_images.py", "make", directory.toString(), Integer.toString(IMAGES)));
        PythonScript.run(directory, "PIL", "pillow_images.py", "expect", directory.toString());
    }

    @Test
    void withLibjpegTurbo_pixelsAreThoseOfPillow() throws Exception {
        assumeTrue(TurboJpegLibrary.isPresent(), TurboJpegLibrary.NAME + " is not installed");
        Differences differences = compare(true);
        System.out.println("PillowTest: libjpeg-turbo: " + differences);
        assertThat(differences.most).isZero();
    }

    @Test
    void withTheJdk_pixelsAreWithinALevelOfPillowsOnAverage() throws Exception {
        Differences differences = compare(false);
        System.out.println("PillowTest: the JDK: " + differences);
        assertThat(differences.worstMean).isLessThan(1);
    }

    /** Over all cases. */
    private static final class Differences {
        private int cases;
        private int refused;
        private int most;
        private double worstMean;

        @Override
        public String toString() {
            return cases + " equal in size, " + refused + " refused by both; differences: largest " + most
                    + ", largest mean of an image " + worstMean;
        }
    }

    private Differences compare(boolean turbo) throws Exception {
        Differences differences = new Differences();
        for (Case c : cases) {
            if (!turbo && c.file().endsWith(WITHOUT_TABLES)) {
                continue;
            }
            try (Arena arena = Arena.ofConfined();
                    SampleDecoder.Content decoder = (SampleDecoder.Content) new ImageDecoding(c.form(), turbo).open()) {
                compare(c, decoder, arena, differences);
            }
        }
        assertThat(differences.cases).isGreaterThanOrEqualTo(FORMS.size() * IMAGES * 9 / 10);
        assertThat(differences.refused).isGreaterThan(5);
        return differences;
    }

    private static List<Case> cases(List<String> made) throws IOException {
        List<Case> cases = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        SplittableRandom keys = new SplittableRandom(3);
        for (String line : made) {
            String[] words = line.split(" ", -1);
            int width = Integer.parseInt(words[1]);
            int height = Integer.parseInt(words[2]);
            for (ImageForm form : FORMS) {
                Case c = new Case(cases.size(), words[0], form, keys.nextLong(), width == 0);
                cases.add(c);
                Region region = new Region(0, 0, 1, 1);
                boolean mirrored = false;
                if (!c.damaged()) {
                    Framing framing;
                    try {
                        framing = Framing.of(form, width, height, c.key());
                    } catch (BadSampleException e) {
                        throw new AssertionError(line, e);
                    }
                    region = framing.region();
                    mirrored = framing.mirrored();
                }
                lines.add(String.format(
                        "%d %s %s %d %d %d %d %d %d %d %d",
                        c.index(),
                        c.file(),
                        form.crop(),
                        form.height(),
                        form.width(),
                        form.resize(),
                        region.left(),
                        region.top(),
                        region.width(),
                        region.height(),
                        mirrored ? 1 : 0));
            }
        }
        Files.write(directory.resolve("cases"), lines);
        return cases;
    }

    private void compare(Case c, SampleDecoder.Content decoder, Arena arena, Differences differences)
            throws IOException {
        MemorySegment file = arena.allocateFrom(JAVA_BYTE, Files.readAllBytes(directory.resolve(c.file())));
        MemorySegment slot = arena.allocate(c.form().format().bytes());
        Path refused = directory.resolve(c.index() + ".refused");
        try {
            decoder.decode(file, c.key(), slot);
        } catch (BadSampleException e) {
            assertThat(e.getMessage()).doesNotContain("\n", "Exception");
            assertThat(refused).as(c.file() + " is refused: " + e.getMessage()).exists();
            differences.refused++;
            return;
        }
        assertThat(refused).as(c.file() + " is not refused").doesNotExist();
        byte[] expected = Files.readAllBytes(directory.resolve(c.index() + ".rgb"));
        byte[] found = slot.toArray(JAVA_BYTE);
        assertThat(found.length).as(c.toString()).isEqualTo(expected.length);
        long sum = 0;
        int most = 0;
        for (int i = 0; i < expected.length; i++) {
            int at = i;
            if (c.form().layout() == Layout.NCHW) {
                at = i % 3 * (expected.length / 3) + i / 3;
            }
            int difference = Math.abs((found[at] & 0xFF) - (expected[i] & 0xFF));
            sum += difference;
            most = Math.max(most, difference);
        }
        double mean = (double) sum / expected.length;
        if (most > differences.most) {
            System.out.println("PillowTest: " + c + ": largest " + most + ", mean " + mean);
        }
        differences.cases++;
        differences.most = Math.max(differences.most, most);
        differences.worstMean = Math.max(differences.worstMean, mean);
    }

    @Test
    void randomCrops_areThoseOfTorchvision() throws Exception {
        SplittableRandom random = new SplittableRandom(11);
        List<String> lines = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            long key = random.nextLong();
            int width = 1 + random.nextInt(i % 5 == 0 ? 9 : 2_000);
            int height = 1 + random.nextInt(i % 7 == 0 ? 9 : 2_000);
            Region region = Framing.of(FORMS.get(1), width, height, key).region();
            lines.add(key + " " + width + " " + height);
            expected.add(region.left() + " " + region.top() + " " + region.width() + " " + region.height());
        }
        Path keys = Files.write(directory.resolve("keys"), lines);
        assertThat(PythonScript.run(directory, "torchvision", "torchvision_crops.py", keys.toString()))
                .isEqualTo(expected);
    }
}
