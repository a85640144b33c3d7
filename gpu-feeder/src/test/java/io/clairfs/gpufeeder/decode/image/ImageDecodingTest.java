package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.image.ImageForm.Crop;
import io.clairfs.gpufeeder.decode.image.ImageForm.Kind;
import io.clairfs.gpufeeder.decode.image.ImageForm.Layout;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.plugins.jpeg.JPEGImageWriteParam;
import javax.imageio.stream.MemoryCacheImageOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What needs no other decoder to compare with. */
final class ImageDecodingTest {
    private static final boolean TURBO = TurboJpegLibrary.isPresent();

    /** Where the second chunk of a PNG file begins. */
    private static final int BEHIND_SIZE = 33;

    /** Bytes of a chunk beside its data. */
    private static final int CHUNK_BYTES = 12;

    private static byte[] picture(int width, int height, String kind) throws IOException {
        return picture(BufferedImage.TYPE_INT_RGB, width, height, kind);
    }

    private static byte[] picture(int type, int width, int height, String kind) throws IOException {
        BufferedImage image = new BufferedImage(width, height, type);
        Random random = new Random(width * 31L + height);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                image.setRGB(x, y, random.nextInt());
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(image, kind, out);
        return out.toByteArray();
    }

    private static byte[] decode(byte[] file, ImageForm form, long key, boolean turbo) throws BadSampleException {
        try (Arena arena = Arena.ofConfined();
                SampleDecoder.Content decoder = (SampleDecoder.Content) new ImageDecoding(form, turbo).open()) {
            MemorySegment slot = arena.allocate(form.format().bytes());
            decoder.decode(arena.allocateFrom(JAVA_BYTE, file), key, slot);
            return slot.toArray(JAVA_BYTE);
        }
    }

    private static ImageForm form(Layout layout, Crop crop, boolean flip) {
        return new ImageForm(Kind.ANY, 20, 30, layout, crop, 30, flip);
    }

    @Test
    void sameKey_givesTheSameBytes_anotherOneOthers() throws Exception {
        byte[] file = picture(90, 70, "png");
        ImageForm form = form(Layout.NCHW, Crop.RANDOM, true);
        byte[] first = decode(file, form, 5, TURBO);
        assertThat(decode(file, form, 5, TURBO)).isEqualTo(first);
        assertThat(decode(file, form, 6, TURBO)).isNotEqualTo(first);
        // Whoever changes these changes every training that is repeated.
        assertThat(Framing.of(form, 500, 375, 5))
                .isEqualTo(new Framing(new Framing.Region(332, 68, 164, 196), 30, 20, 0, 0, 30, 20, true));
    }

    /** A JPEG file whose Huffman tables are its own. */
    private static byte[] optimized() throws IOException {
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (MemoryCacheImageOutputStream to = new MemoryCacheImageOutputStream(out)) {
            JPEGImageWriteParam parameters = new JPEGImageWriteParam(Locale.ROOT);
            parameters.setOptimizeHuffmanTables(true);
            parameters.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
            parameters.setCompressionQuality(0.3F);
            writer.setOutput(to);
            BufferedImage image = ImageIO.read(new ByteArrayInputStream(picture(64, 48, "png")));
            writer.write(null, new IIOImage(image, null, null), parameters);
        } finally {
            writer.dispose();
        }
        return out.toByteArray();
    }

    /** The file with the segments of this kind marked as ones that mean nothing. */
    private static byte[] without(int kind, byte[] jpeg) {
        byte[] file = jpeg.clone();
        for (int at = 0; at + 1 < file.length; at++) {
            if (file[at] == (byte) 0xFF && file[at + 1] == (byte) kind) {
                file[at + 1] = (byte) 0xE9;
            }
        }
        return file;
    }

    private static String decoded(SampleDecoder.Content decoder, byte[] file) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment slot = arena.allocate(decoder.format().bytes());
            decoder.decode(arena.allocateFrom(JAVA_BYTE, file), 0, slot);
            return HexFormat.of().formatHex(slot.toArray(JAVA_BYTE));
        } catch (BadSampleException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** A file without tables must not be decoded with those of the file before. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatWasDecodedBefore_changesNothing(boolean turbo) throws Exception {
        assumeTrue(!turbo || TURBO, TurboJpegLibrary.NAME + " is not installed");
        ImageDecoding decoding = new ImageDecoding(form(Layout.NCHW, Crop.CENTER, false), turbo);
        byte[] jpeg = picture(90, 70, "jpeg");
        for (byte[] file : List.of(jpeg, without(0xC4, jpeg), without(0xDB, jpeg))) {
            try (SampleDecoder.Content fresh = (SampleDecoder.Content) decoding.open();
                    SampleDecoder.Content used = (SampleDecoder.Content) decoding.open()) {
                String expected = decoded(fresh, file);
                assertThat(decoded(used, optimized())).matches("[0-9a-f]+");
                assertThat(decoded(used, file)).isEqualTo(expected);
            }
        }
    }

    @Test
    void planes_areThePixelsInAnotherOrder() throws Exception {
        byte[] file = picture(90, 70, "png");
        byte[] planes = decode(file, form(Layout.NCHW, Crop.CENTER, true), 1, TURBO);
        byte[] pixels = decode(file, form(Layout.NHWC, Crop.CENTER, true), 1, TURBO);
        byte[] sorted = new byte[planes.length];
        for (int i = 0; i < sorted.length; i++) {
            sorted[i] = planes[i % 3 * (planes.length / 3) + i / 3];
        }
        assertThat(sorted).isEqualTo(pixels);
    }

    @Test
    void flip_mirrorsHalfOfTheSamples_andChangesNoCrop() throws Exception {
        byte[] file = picture(40, 40, "png");
        int mirrored = 0;
        for (int key = 0; key < 400; key++) {
            byte[] as = decode(file, form(Layout.NHWC, Crop.RANDOM, false), key, TURBO);
            byte[] maybe = decode(file, form(Layout.NHWC, Crop.RANDOM, true), key, TURBO);
            if (!Arrays.equals(as, maybe)) {
                mirrored++;
                byte[] back = new byte[as.length];
                for (int i = 0; i < back.length; i++) {
                    int x = i / 3 % 30;
                    back[i] = maybe[i + 3 * (29 - 2 * x)];
                }
                assertThat(back).isEqualTo(as);
            }
        }
        assertThat(mirrored).isBetween(150, 250);
    }

    @Test
    void imageOfTheRightSize_isTakenAsItIs() throws Exception {
        byte[] file = picture(30, 20, "png");
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(file));
        byte[] pixels = decode(file, form(Layout.NHWC, Crop.NONE, false), 0, TURBO);
        for (int i = 0; i < 600; i++) {
            assertThat(HexFormat.of().formatHex(pixels, 3 * i, 3 * i + 3))
                    .isEqualTo(HexFormat.of().toHexDigits(image.getRGB(i % 30, i / 30), 6));
        }
    }

    @Test
    void oneDecoder_takesOneFileAfterTheOther_damagedOnesToo() throws Exception {
        byte[] small = picture(33, 45, "jpeg");
        byte[] large = picture(300, 200, "jpeg");
        ImageForm form = form(Layout.NCHW, Crop.CENTER, false);
        for (boolean turbo : TURBO ? new boolean[] {true, false} : new boolean[] {false}) {
            try (Arena arena = Arena.ofConfined();
                    SampleDecoder.Content decoder = (SampleDecoder.Content) new ImageDecoding(form, turbo).open()) {
                MemorySegment slot = arena.allocate(form.format().bytes());
                for (int i = 0; i < 20; i++) {
                    byte[] file = i % 2 == 0 ? small : large;
                    MemorySegment whole = arena.allocateFrom(JAVA_BYTE, file);
                    assertThatThrownBy(() -> decoder.decode(whole.asSlice(0, file.length / 2), 0, slot))
                            .isInstanceOf(BadSampleException.class)
                            .hasMessageContaining("truncated JPEG file");
                    decoder.decode(whole, 0, slot);
                    assertThat(slot.toArray(JAVA_BYTE)).isEqualTo(decode(file, form, 0, turbo));
                }
            }
        }
    }

    private static byte[] progressive(int width, int height) throws IOException {
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(picture(width, height, "png")));
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
        ImageWriteParam param = writer.getDefaultWriteParam();
        param.setProgressiveMode(ImageWriteParam.MODE_DEFAULT);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (MemoryCacheImageOutputStream to = new MemoryCacheImageOutputStream(out)) {
            writer.setOutput(to);
            writer.write(null, new IIOImage(image, null, null), param);
        } finally {
            writer.dispose();
        }
        return out.toByteArray();
    }

    /** All scans of a progressive file are read before its first row: where that fails nothing is written. */
    @Test
    void damagedFile_neverHasThePixelsOfTheOneBefore() throws Exception {
        assumeTrue(TURBO, TurboJpegLibrary.NAME + " is not installed");
        byte[] whole = progressive(160, 120);
        byte[] stray = whole.clone();
        stray[whole.length / 2] = (byte) 0xFF;
        stray[whole.length / 2 + 1] = 0x3C; // no marker that there is
        assertThatThrownBy(() -> decodeBehind(picture(160, 120, "jpeg"), stray))
                .isInstanceOf(BadSampleException.class)
                .hasMessageStartingWith("damaged JPEG file: ");
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 200; i++) {
            byte[] damaged = (i % 2 == 0 ? whole : picture(160, 120, "jpeg")).clone();
            int length = 1 << (3 + i % 7);
            int at = 700 + random.nextInt(damaged.length - 702 - length);
            byte[] block = new byte[length];
            random.nextBytes(block);
            System.arraycopy(block, 0, damaged, at, length);
            try {
                byte[] one = decodeBehind(picture(161, 121, "jpeg"), damaged);
                byte[] other = decodeBehind(picture(200, 150, "jpeg"), damaged);
                assertThat(other).as("damage %d", i).isEqualTo(one);
            } catch (BadSampleException e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(20, 199);
    }

    /** Behind a warning libjpeg names no other, and what a decoder reads is not the end of the file. */
    @Test
    void endOfTheImage_withinASegmentWhoseLengthIsDamaged_isNone() throws Exception {
        assumeTrue(TURBO, TurboJpegLibrary.NAME + " is not installed");
        byte[] whole = progressive(160, 120);
        assertThat(JpegHeader.isEnded(MemorySegment.ofArray(whole))).isTrue();
        assertThat(JpegHeader.isEnded(MemorySegment.ofArray(Arrays.copyOf(whole, whole.length - 2))))
                .isFalse();
        int scan = indexOf(whole, (byte) 0xDA);
        byte[] damaged = whole.clone();
        Arrays.fill(damaged, scan + 20, scan + 60, (byte) 0x55); // coded data that does not end where it should
        int tables = scan + indexOf(Arrays.copyOfRange(damaged, scan, damaged.length), (byte) 0xC4);
        damaged[tables] = (byte) 0xFE; // a comment that is longer than the file
        damaged[tables + 1] = (byte) 0xFF;
        assertThat(JpegHeader.isEnded(MemorySegment.ofArray(damaged))).isFalse();
        assertThatThrownBy(() -> decodeBehind(picture(160, 120, "jpeg"), damaged))
                .isInstanceOf(BadSampleException.class)
                .hasMessageStartingWith("truncated JPEG file: ");
    }

    private static byte[] decodeBehind(byte[] before, byte[] file) throws BadSampleException {
        ImageForm form = form(Layout.NCHW, Crop.CENTER, false);
        try (Arena arena = Arena.ofConfined();
                SampleDecoder.Content decoder = (SampleDecoder.Content) new ImageDecoding(form, true).open()) {
            MemorySegment slot = arena.allocate(form.format().bytes());
            decoder.decode(arena.allocateFrom(JAVA_BYTE, before), 0, slot);
            decoder.decode(arena.allocateFrom(JAVA_BYTE, file), 0, slot);
            return slot.toArray(JAVA_BYTE);
        }
    }

    @Test
    void fileOfAnotherKind_isRefused() throws Exception {
        ImageForm jpegs = new ImageForm(Kind.JPEG, 8, 8, Layout.NCHW, Crop.CENTER, 8, false);
        byte[] png = picture(9, 9, "png");
        assertThatThrownBy(() -> decode(png, jpegs, 0, TURBO))
                .isInstanceOf(BadSampleException.class)
                .hasMessage("a PNG file, but only JPEG files are expected: --decode image,... takes both");
        assertThatThrownBy(() -> decode(new byte[] {'B', 'M', 1}, jpegs, 0, TURBO))
                .hasMessage("neither a JPEG nor a PNG file: it begins with 42 4D 01");
        assertThatThrownBy(() -> decode(new byte[0], jpegs, 0, TURBO)).hasMessage("the file is empty");
    }

    @Test
    void imageTooLong_isRefused_notAllocated() throws Exception {
        byte[] png = picture(9, 9, "png");
        png[16] = 0x7F; // its width is now more than two billion pixels
        CRC32 sum = new CRC32();
        sum.update(png, 12, 17);
        ByteBuffer.wrap(png).putInt(29, (int) sum.getValue());
        ImageForm form = form(Layout.NCHW, Crop.CENTER, false);
        assertThatThrownBy(() -> decode(png, form, 0, TURBO)).isInstanceOf(BadSampleException.class);
        byte[] jpeg = picture(9, 9, "jpeg");
        int frame = indexOf(jpeg, (byte) 0xC0);
        Arrays.fill(jpeg, frame + 4, frame + 8, (byte) 0xFF); // 65,535 x 65,535
        assertThatThrownBy(() -> decode(jpeg, form, 0, TURBO)).hasMessageContaining("65535x65535");
    }

    @Test
    void pngFileWithAWrongSumBeforeItsPixels_isRefused_asByPillow() throws Exception {
        byte[] png = picture(9, 9, "png");
        png[23] ^= 1; // the height
        ImageForm form = form(Layout.NCHW, Crop.CENTER, false);
        assertThatThrownBy(() -> decode(png, form, 0, TURBO))
                .isInstanceOf(BadSampleException.class)
                .hasMessageContaining("checksum");
        assertThatThrownBy(() -> ImageSize.of(MemorySegment.ofArray(png), png.length))
                .hasMessageContaining("checksum");
    }

    /** The file with a further chunk, whose sum is right. */
    private static byte[] withChunk(byte[] png, int at, String kind, String data) {
        byte[] chunk = (kind + data).getBytes(ISO_8859_1);
        CRC32 sum = new CRC32();
        sum.update(chunk);
        return ByteBuffer.allocate(png.length + CHUNK_BYTES + data.length())
                .put(png, 0, at)
                .putInt(data.length())
                .put(chunk)
                .putInt((int) sum.getValue())
                .put(png, at, png.length - at)
                .array();
    }

    /** The JDK's reader reads every chunk of a file with a palette, and gives up over one of these. */
    @ParameterizedTest
    @ValueSource(strings = {"iCCP", "tEXt", "sPLT", "hIST"})
    void chunkThatNothingCanBeMadeOf_isLeftAlone_asByPillow(String kind) throws Exception {
        byte[] png = picture(BufferedImage.TYPE_BYTE_INDEXED, 30, 20, "png");
        ImageForm form = form(Layout.NHWC, Crop.NONE, false);
        byte[] pixels = decode(png, form, 0, TURBO);
        for (int at : new int[] {BEHIND_SIZE, png.length - CHUNK_BYTES}) {
            assertThat(decode(withChunk(png, at, kind, "odd"), form, 0, TURBO)).isEqualTo(pixels);
        }
    }

    @Test
    void chunkAmongThePixels_endsThem_asForPillow() throws Exception {
        byte[] png = picture(300, 200, "png");
        int second = BEHIND_SIZE + CHUNK_BYTES + ByteBuffer.wrap(png).getInt(BEHIND_SIZE);
        assertThat(new String(png, second + Integer.BYTES, 4, ISO_8859_1)).isEqualTo("IDAT");
        ImageForm form = form(Layout.NCHW, Crop.CENTER, false);
        assertThat(decode(withChunk(png, BEHIND_SIZE, "tEXt", "a\0b"), form, 0, TURBO))
                .isEqualTo(decode(png, form, 0, TURBO));
        assertThatThrownBy(() -> decode(withChunk(png, second, "tEXt", "a\0b"), form, 0, TURBO))
                .isInstanceOf(BadSampleException.class)
                .hasMessageContaining("damaged PNG file");
    }

    private static int indexOf(byte[] bytes, byte marker) {
        for (int i = 1; i < bytes.length; i++) {
            if (bytes[i - 1] == (byte) 0xFF && bytes[i] == marker) {
                return i;
            }
        }
        throw new AssertionError("no such marker");
    }
}
