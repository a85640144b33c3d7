package io.clairfs.gpufeeder.view;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.view.Transform;
import io.clairfs.cache.view.UnfitFileException;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of files of images; the pixels themselves are compared in {@code PillowTest} and, through a mount, in {@code ViewMountTest}. */
@Timeout(120)
final class WholeImagesTest {
    private static final int WIDTH = 31;
    private static final int HEIGHT = 20;
    private static final int SEGMENT_BYTES = 60_000;

    private static final Transform DECODE = new WholeImages(Container.PPM, WholeImages.AS_THEY_ARE);

    private static byte[] image(String kind) {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        Random random = new Random(1);
        for (int at = 0; at < WIDTH * HEIGHT; at++) {
            image.setRGB(at % WIDTH, at / WIDTH, random.nextInt(1 << 24));
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            assertThat(ImageIO.write(image, kind, out)).isTrue();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return out.toByteArray();
    }

    private static long madeBytes(Transform transform, byte[] file, int head) throws UnfitFileException {
        return transform.madeBytes(MemorySegment.ofArray(Arrays.copyOf(file, head)), file.length);
    }

    private static byte[] made(Transform transform, byte[] file) throws UnfitFileException {
        return made(transform, file, madeBytes(transform, file, file.length));
    }

    private static byte[] made(Transform transform, byte[] file, long bytes) throws UnfitFileException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(bytes);
            transform.make(arena.allocateFrom(JAVA_BYTE, file), into);
            return into.toArray(JAVA_BYTE);
        }
    }

    /** With a segment of an application in front, longer than what is read of a file first. */
    private static byte[] withLongHeader(byte[] jpeg) {
        byte[] all = new byte[jpeg.length + SEGMENT_BYTES + 2];
        System.arraycopy(jpeg, 0, all, 0, 2);
        all[2] = (byte) 0xFF;
        all[3] = (byte) 0xE1;
        all[4] = (byte) (SEGMENT_BYTES >> 8);
        all[5] = (byte) SEGMENT_BYTES;
        System.arraycopy(jpeg, 2, all, SEGMENT_BYTES + 4, jpeg.length - 2);
        return all;
    }

    // Promise V2
    @Test
    void sizeIsKnownFromAnyHeadThatHasIt_andIsThatOfWhatIsMade() throws Exception {
        for (byte[] file : List.of(image("png"), image("jpg"), withLongHeader(image("jpg")))) {
            for (Transform transform : List.of(
                    DECODE,
                    new WholeImages(Container.PPM, 7),
                    new WholeImages(Container.NPY, 50),
                    new WholeImages(Container.NPY, WholeImages.AS_THEY_ARE))) {
                long whole = madeBytes(transform, file, file.length);
                assertThat(made(transform, file)).hasSize((int) whole);
                int told = 0;
                for (int head = 8; head < file.length; head += head < 1000 ? 1 : 997) {
                    assertThat(madeBytes(transform, file, head)).isIn(Transform.UNTOLD, whole);
                    told += madeBytes(transform, file, head) == whole ? 1 : 0;
                }
                assertThat(told).isPositive();
            }
        }
    }

    @Test
    void containers_areOfTheirFormats() throws Exception {
        byte[] ppm = made(DECODE, image("png"));
        String begin = "P6\n" + WIDTH + " " + HEIGHT + "\n255\n";
        assertThat(new String(ppm, 0, begin.length(), ISO_8859_1)).isEqualTo(begin);
        assertThat(ppm).hasSize(begin.length() + 3 * WIDTH * HEIGHT);

        byte[] npy = made(new WholeImages(Container.NPY, WholeImages.AS_THEY_ARE), image("png"));
        int header = npy.length - 3 * WIDTH * HEIGHT;
        assertThat(header % 64).isZero();
        assertThat(new String(npy, 0, header, ISO_8859_1))
                .startsWith("\u0093NUMPY\u0001\u0000")
                .contains("{'descr': '|u1', 'fortran_order': False, 'shape': (20, 31, 3), }")
                .endsWith(" \n");
        assertThat(Arrays.copyOfRange(npy, header, npy.length))
                .isEqualTo(Arrays.copyOfRange(ppm, begin.length(), ppm.length));
    }

    @Test
    void shorterSide_isResizedAsTorchvisionDoes() throws Exception {
        byte[] ppm = made(new WholeImages(Container.PPM, 41), image("png"));
        assertThat(new String(ppm, ISO_8859_1)).startsWith("P6\n63 41\n255\n"); // 41 * 31 / 20 = 63.55
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "P6\n1 1\n255\nabc", "{}", "GIF89a", "\u00ff\u00d8", "\u0089PNG"})
    void whatDoesNotBeginAsAnImage_isShownAsItIs(String content) throws Exception {
        byte[] file = content.getBytes(ISO_8859_1);
        assertThat(madeBytes(DECODE, file, file.length)).isEqualTo(Transform.AS_IT_IS);
        assertThat(madeBytes(new WholeImages(Container.NPY, 9), file, file.length))
                .isEqualTo(Transform.AS_IT_IS);
    }

    // Promise V4
    @Test
    void damagedImage_isRefusedWithTheReason_andTheNextIsMade() throws Exception {
        for (String kind : List.of("png", "jpg")) {
            byte[] whole = image(kind);
            byte[] half = Arrays.copyOf(whole, whole.length * 2 / 3);
            long bytes = madeBytes(DECODE, half, half.length);
            assertThat(bytes).isEqualTo(madeBytes(DECODE, whole, whole.length));
            assertThatThrownBy(() -> made(DECODE, half, bytes))
                    .isInstanceOf(UnfitFileException.class)
                    .hasMessageMatching("(truncated|damaged) (PNG|JPEG) file: .*");
            assertThat(made(DECODE, whole)).hasSize((int) bytes);
            assertThatThrownBy(() -> made(DECODE, whole, bytes + 1))
                    .isInstanceOf(UnfitFileException.class)
                    .hasMessageContaining("unmount and mount again");
        }
    }

    // Promise V4
    @Test
    void imageThatWouldBecomeTooLarge_isRefusedByItsHeader() {
        byte[] png = image("png");
        png[17] = 1; // in the width
        withSum(png);
        assertThatThrownBy(() -> madeBytes(DECODE, png, png.length))
                .isInstanceOf(UnfitFileException.class)
                .hasMessageContaining("pixels");
        byte[] flat = image("png");
        flat[19] = 1; // the width
        withSum(flat);
        assertThatThrownBy(() -> madeBytes(new WholeImages(Container.PPM, 16_384), flat, flat.length))
                .isInstanceOf(UnfitFileException.class)
                .hasMessageContaining("too long and narrow");
    }

    /** Corrects the sum of the first chunk. */
    private static void withSum(byte[] png) {
        CRC32 sum = new CRC32();
        sum.update(png, 12, 17);
        ByteBuffer.wrap(png).putInt(29, (int) sum.getValue());
    }

    @Test
    void manyThreads_makeTheSameBytes() throws Exception {
        byte[] file = image("jpg");
        byte[] expected = made(DECODE, file);
        try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
            List<Future<byte[]>> all = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                all.add(threads.submit(() -> made(DECODE, file)));
            }
            for (Future<byte[]> each : all) {
                assertThat(each.get()).isEqualTo(expected);
            }
        }
    }
}
