package io.clairfs.tools.fuzz;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceUnfitException;
import io.clairfs.cache.view.Transform;
import io.clairfs.cache.view.View;
import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.array.NpyDecoding;
import io.clairfs.gpufeeder.decode.array.WavDecoding;
import io.clairfs.gpufeeder.decode.spec.DecodeSpec;
import io.clairfs.gpufeeder.view.ViewSpec;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The feeder's samples and the spec that says how they are decoded. */
@Tag("long")
final class DecodeFuzzTest {
    @TempDir
    Path directory;

    @Test
    void spec_isTakenOrRefusedInOneLine() {
        List<String> valid = List.of(
                "raw,dtype=float32,shape=3x224x224,offset=8",
                "int16,shape=128x128x128x4",
                "npy",
                "wav",
                "image,size=224x160,layout=nhwc,resize=256,crop=center,flip=random",
                "jpeg,size=224,crop=random");
        Fuzz fuzz = Fuzz.of(
                "decode specs",
                6_000,
                List.of("raw", "png", "dtype=", "shape=", "size=", "crop=none", ",", "=", "x", "0", "\t", "\u0000"));
        Refused refused = new Refused(fuzz, InvalidSpecException.class);
        while (fuzz.next()) {
            String text = fuzz.random().nextInt(5) == 0
                    ? new String(fuzz.bytes(), ISO_8859_1)
                    : fuzz.mutated(fuzz.oneOf(valid.toArray(String[]::new)));
            refused.readIsTaken(() -> DecodeSpec.parse(text));
        }
        refused.sayAndCheck();
    }

    @Test
    void view_isTakenOrRefusedInOneLine() {
        Fuzz fuzz = Fuzz.of(
                "views",
                6_000,
                List.of("raw", "decode", "npy", ",", ":", "shorter=", "image", "size=", "0", "\t", "\u0000"));
        Refused refused = new Refused(fuzz, InvalidSpecException.class);
        while (fuzz.next()) {
            String text = fuzz.random().nextInt(5) == 0
                    ? new String(fuzz.bytes(), ISO_8859_1)
                    : fuzz.mutated(fuzz.oneOf("decode,shorter=480", "npy:shorter=224", "npy:image,size=224,crop=none"));
            refused.readIsTaken(() -> ViewSpec.parse(text));
        }
        refused.sayAndCheck();
    }

    /** What is made of a file has the size that its header told, or nothing is made of it. */
    @Test
    void imageInAView_hasTheSizeOfItsHeaderOrIsRefusedInOneLine() throws Exception {
        byte[] jpeg = picture("jpeg");
        byte[] png = picture("png");
        Path source = Files.createDirectory(directory.resolve("source"));
        View view = ViewSpec.parse("decode,shorter=24").open();
        Fuzz fuzz = Fuzz.of("images in a view", 3_000, List.of("\u00ff\u00d8", "\u00ff\u00da", "\u00ff\u00c0", "IHDR"));
        Refused refused = new Refused(fuzz, SourceException.class);
        try (DirectorySource files = new DirectorySource(source)) {
            while (fuzz.next()) {
                byte[] bytes = fuzz.mutated(fuzz.random().nextInt(3) == 0 ? png : jpeg);
                Path file = Files.write(source.resolve("input"), bytes);
                SourceFile listed = new SourceFile(
                        "input".getBytes(ISO_8859_1),
                        bytes.length,
                        Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS));
                long size = view.madeBytes(files, listed);
                if (size == Transform.AS_IT_IS) {
                    continue;
                }
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment whole = arena.allocateFrom(JAVA_BYTE, bytes);
                    MemorySegment into = arena.allocate(size);
                    refused.readIsTaken(() -> {
                        try {
                            view.make(listed, whole, into);
                        } catch (SourceUnfitException e) {
                            boolean other = size != bytes.length
                                    && String.valueOf(e.getMessage()).contains("its size");
                            assertThat(other).as(fuzz.where()).isFalse();
                            throw e;
                        }
                    });
                }
            }
        }
        refused.sayAndCheck();
    }

    @Test
    void npy_isTakenOrRefusedInOneLine() throws Exception {
        byte[] header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n".getBytes(ISO_8859_1);
        byte[] valid = ByteBuffer.allocate(10 + header.length + 48)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("\u0093NUMPY\1\0".getBytes(ISO_8859_1))
                .putShort((short) header.length)
                .put(header)
                .array();
        Fuzz fuzz = Fuzz.of(
                "npy files",
                6_000,
                List.of("'descr'", "'<f4'", "'>f4'", "True", "(", ")", ",", "{", "}", "99999", "'shape': ", "[", " "));
        headers(fuzz, valid, NpyDecoding.like(Files.write(directory.resolve("valid"), valid)), NpyDecoding::like);
    }

    @Test
    void wav_isTakenOrRefusedInOneLine() throws Exception {
        byte[] valid = ByteBuffer.allocate(44 + 64)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("RIFF".getBytes(ISO_8859_1))
                .putInt(36 + 64)
                .put("WAVEfmt ".getBytes(ISO_8859_1))
                .putInt(16)
                .putShort((short) 1)
                .putShort((short) 1)
                .putInt(16_000)
                .putInt(32_000)
                .putShort((short) 2)
                .putShort((short) 16)
                .put("data".getBytes(ISO_8859_1))
                .putInt(64)
                .array();
        Fuzz fuzz = Fuzz.of("wav files", 6_000, List.of("RIFF", "WAVE", "fmt ", "data", "LIST", "\u0000", "\u00ff"));
        headers(fuzz, valid, WavDecoding.like(Files.write(directory.resolve("valid"), valid)), WavDecoding::like);
    }

    /** A decoding from its first file. */
    @FunctionalInterface
    private interface Like {
        Decoding of(Path example) throws IOException;
    }

    /** Each input as the first file of a feed, and as a later one. */
    private void headers(Fuzz fuzz, byte[] valid, Decoding decoding, Like like) throws IOException {
        Refused refused = new Refused(fuzz, BadSampleException.class);
        try (SampleDecoder.Payload decoder = (SampleDecoder.Payload) decoding.open()) {
            while (fuzz.next()) {
                byte[] bytes = fuzz.random().nextInt(5) == 0 ? fuzz.bytes() : fuzz.mutated(valid);
                Path file = Files.write(directory.resolve("input"), bytes);
                refused.readIsTaken(() -> like.of(file).format().bytes());
                MemorySegment header =
                        MemorySegment.ofArray(Arrays.copyOf(bytes, Math.min(bytes.length, decoder.headerBytes())));
                refused.readIsTaken(() -> decoder.check(header, bytes.length));
            }
        }
        refused.sayAndCheck();
    }

    private static byte[] picture(String kind) throws IOException {
        BufferedImage image = new BufferedImage(61, 47, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < 61 * 47; i++) {
            image.setRGB(i % 61, i / 61, i * 0x01010155);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(image, kind, out);
        return out.toByteArray();
    }

    @Test
    void image_isTakenOrRefusedInOneLine() throws Exception {
        byte[] jpeg = picture("jpeg");
        byte[] png = picture("png");
        Decoding decoding =
                DecodeSpec.parse("image,size=24,crop=random,flip=random").decoding(directory);
        Fuzz fuzz = Fuzz.of(
                "images",
                3_000,
                List.of(
                        "\u00ff\u00d8",
                        "\u00ff\u00da",
                        "\u00ff\u00c4",
                        "\u00ff\u00c0",
                        "\u00ff\u00c2",
                        "\u00ff\u00d9",
                        "IHDR",
                        "IDAT",
                        "PLTE"));
        Refused refused = new Refused(fuzz, BadSampleException.class);
        try (SampleDecoder.Content decoder = (SampleDecoder.Content) decoding.open()) {
            while (fuzz.next()) {
                byte[] valid = fuzz.random().nextInt(3) == 0 ? png : jpeg;
                byte[] bytes = fuzz.random().nextInt(10) == 0 ? fuzz.bytes() : fuzz.mutated(valid);
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment file = arena.allocateFrom(JAVA_BYTE, bytes);
                    MemorySegment slot = arena.allocate(decoder.format().bytes());
                    refused.readIsTaken(() -> decoder.decode(file, fuzz.random().nextLong(), slot));
                }
            }
        }
        refused.sayAndCheck();
    }
}
