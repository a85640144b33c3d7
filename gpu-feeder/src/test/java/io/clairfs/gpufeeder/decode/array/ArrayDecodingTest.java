package io.clairfs.gpufeeder.decode.array;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.PythonScript;
import io.clairfs.gpufeeder.decode.RawDecoding;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ArrayDecodingTest {
    @TempDir
    Path directory;

    private Path write(String name, byte[] bytes) throws IOException {
        return Files.write(directory.resolve(name), bytes);
    }

    private static byte[] npy(String dictionary, int arrayBytes) {
        byte[] header = (dictionary + "\n").getBytes(ISO_8859_1);
        return ByteBuffer.allocate(10 + header.length + arrayBytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("\u0093NUMPY\1\0".getBytes(ISO_8859_1))
                .putShort((short) header.length)
                .put(header)
                .array();
    }

    private static byte[] npy(String type, String order, String shape, int arrayBytes) {
        return npy("{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }", arrayBytes);
    }

    private static byte[] wav(int channels, int rate, int frames, int bits) {
        int frameBytes = channels * bits / 8;
        int bytes = frames * frameBytes;
        return ByteBuffer.allocate(44 + bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("RIFF".getBytes(ISO_8859_1))
                .putInt(36 + bytes)
                .put("WAVEfmt ".getBytes(ISO_8859_1))
                .putInt(16)
                .putShort((short) 1)
                .putShort((short) channels)
                .putInt(rate)
                .putInt(rate * frameBytes)
                .putShort((short) frameBytes)
                .putShort((short) bits)
                .put("data".getBytes(ISO_8859_1))
                .putInt(bytes)
                .array();
    }

    /** As the feeder: the header aside, what follows is the sample. */
    private static byte[] payload(Decoding decoding, Path path) throws IOException {
        try (SampleDecoder.Payload decoder = (SampleDecoder.Payload) decoding.open()) {
            byte[] file = Files.readAllBytes(path);
            int header = Math.min(decoder.headerBytes(), file.length);
            decoder.check(MemorySegment.ofArray(file).asSlice(0, header), file.length);
            return Arrays.copyOfRange(
                    file, header, header + (int) decoder.format().bytes());
        }
    }

    @Tag("long")
    @Test
    void arraysOfNumpyAndWave_areTakenAsTheyAre() throws Exception {
        List<String> lines = PythonScript.run(directory, "numpy", "numpy_arrays.py", directory.toString());
        assertThat(lines).hasSize(7 * 5 * 3 + 2);
        for (String line : lines) {
            String[] words = line.split(" ", -1);
            Path file = directory.resolve(words[0]);
            Decoding decoding = words[0].endsWith(".wav") ? WavDecoding.like(file) : NpyDecoding.like(file);
            SampleFormat format = decoding.format();
            assertThat(format.type().typestr()).as(line).isEqualTo(words[1]);
            List<Integer> shape = words[2].equals("-")
                    ? List.of()
                    : Arrays.stream(words[2].split("x", -1))
                            .map(Integer::valueOf)
                            .toList();
            assertThat(format.shape()).as(line).isEqualTo(shape);
            byte[] bytes = Files.readAllBytes(directory.resolve(words[0] + ".bytes"));
            assertThat(payload(decoding, file)).as(line).isEqualTo(bytes);

            Path raw = write("raw", Files.readAllBytes(file));
            int offset = (int) Files.size(file) - bytes.length;
            assertThat(payload(new RawDecoding(format, offset), raw)).as(line).isEqualTo(bytes);
        }
        assertThatThrownBy(() -> NpyDecoding.like(directory.resolve("fortran.npy")))
                .hasMessageContaining("Fortran");
        assertThatThrownBy(() -> NpyDecoding.like(directory.resolve("big.npy"))).hasMessageContaining(">f4");
    }

    @Test
    void headerOfNpy_inAnyOrderAndWithOtherQuotes_isRead() throws Exception {
        byte[] file = npy("{ \"shape\":(3L , 4L),'fortran_order' : False, \"descr\":\"<i2\"}", 0);
        assertThat(NpyHeader.of(MemorySegment.ofArray(file)))
                .isEqualTo(new NpyHeader(new SampleFormat(ElementType.INT16, List.of(3, 4)), file.length));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)};Fortran",
                "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)};known are",
                "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3)};known are",
                "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)};its header is",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)};at least one element",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3)};its header is",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, )};its header is",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, )};its header is",
                "{'descr': '<f4', 'fortran_order': False};its header is",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1};its header is",
                "nothing;its header is",
            })
    void headerOfNpy_isRefused(String dictionary, String reason) {
        assertThatThrownBy(() -> NpyHeader.of(MemorySegment.ofArray(npy(dictionary, 0))))
                .isInstanceOf(BadSampleException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void npyOfMoreDimensionsThanARingTells_isRefused() throws Exception {
        String most = "(" + "1,".repeat(SampleFormat.MOST_DIMENSIONS) + ")";
        assertThat(NpyHeader.of(MemorySegment.ofArray(npy("<f4", "False", most, 4)))
                        .format()
                        .shape())
                .hasSize(16);
        assertThatThrownBy(() -> NpyHeader.of(MemorySegment.ofArray(npy("<f4", "False", most.replace(")", "1)"), 4))))
                .isInstanceOf(BadSampleException.class)
                .hasMessage(".npy file of 17 dimensions: up to 16 are taken");
    }

    @Test
    void npyUnlikeTheFirst_isRefused() throws Exception {
        Decoding decoding = NpyDecoding.like(write("first", npy("<f4", "False", "(2, 3)", 24)));
        assertThat(payload(decoding, write("same", npy("<f4", "False", "(2, 3)", 24))))
                .hasSize(24);
        assertRefused(decoding, npy("<f4", "False", "(3, 2)", 24), "[3, 2]: the first file is of <f4 [2, 3]");
        assertRefused(decoding, npy("<i4", "False", "(2, 3)", 24), "<i4");
        assertRefused(decoding, npy("<f4", "False", "(2, 3)", 23), "truncated");
        assertRefused(decoding, npy("{'descr':'<f4','fortran_order':False,'shape':(2,3)}", 24), "header of 62 bytes");
        byte[] longer = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                ", 24);
        assertRefused(decoding, longer, "header of " + (longer.length - 24) + " bytes: the first file has ");
        assertRefused(decoding, Arrays.copyOf(longer, longer.length - 30), "truncated .npy file: it ends within");
        assertRefused(decoding, new byte[0], "not a .npy file");
    }

    @Test
    void wavUnlikeTheFirst_isRefused() throws Exception {
        Decoding decoding = WavDecoding.like(write("first", wav(1, 16_000, 50, 16)));
        assertThat(decoding.format()).isEqualTo(new SampleFormat(ElementType.INT16, List.of(50)));
        assertThat(payload(decoding, write("same", wav(1, 16_000, 50, 16)))).hasSize(100);
        assertRefused(decoding, wav(1, 16_000, 49, 16), "49 frames");
        assertRefused(decoding, wav(1, 8_000, 50, 16), "8000 Hz");
        assertRefused(decoding, wav(2, 16_000, 25, 16), "2 channels");
        assertRefused(decoding, Arrays.copyOf(wav(1, 16_000, 50, 16), 143), "truncated");
        assertRefused(decoding, new byte[30], "not a wav file");
    }

    @Test
    void otherWav_isRefused() throws Exception {
        assertThat(WavDecoding.like(write("stereo", wav(2, 44_100, 50, 16)))
                        .format()
                        .shape())
                .isEqualTo(List.of(50, 2));
        assertThatThrownBy(() -> WavDecoding.like(write("8", wav(1, 16_000, 50, 8))))
                .hasMessageContaining("8 bits");
        assertThatThrownBy(() -> WavDecoding.like(write("5.1", wav(6, 16_000, 50, 16))))
                .hasMessageContaining("6 channels");
        byte[] longer = wav(1, 16_000, 50, 16);
        longer[16] = 18;
        assertThatThrownBy(() -> WavDecoding.like(write("longer", longer))).hasMessageContaining("44 bytes");
    }

    private void assertRefused(Decoding decoding, byte[] bytes, String reason) {
        assertThatThrownBy(() -> payload(decoding, write("other", bytes)))
                .isInstanceOf(BadSampleException.class)
                .hasMessageContaining(reason);
    }
}
