package io.clairfs.cache.order;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.spec.OrderSpec;
import io.clairfs.cache.order.spec.Samplers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Orders that the user wrote to a file. */
class OrderFileTest {
    @TempDir
    Path directory;

    private Path file;

    @BeforeEach
    void name() {
        file = directory.resolve("order");
    }

    private int[] read(int samples) throws InvalidSpecException {
        return OrderSpec.parse("sampler=order-file samples=" + samples + " file=" + file)
                .indices();
    }

    private void assertRefused(int samples, String reason) {
        assertThatThrownBy(() -> read(samples))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining(reason);
    }

    private static byte[] binary(long... indices) {
        ByteBuffer bytes = ByteBuffer.allocate(indices.length * 8).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(indices);
        return bytes.array();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3\n1\n2\n0\n1\n",
                "3\n1\n2\n0\n1",
                "3\r\n1\r\n2\r\n0\r\n1\r\n",
                "3\r\r\n1\r\r\n2\n0\n1\r\r",
                "\n03\n1\n\n2\n0\n1\n"
            })
    void text_isOneIndexPerLine(String text) throws Exception {
        Files.writeString(file, text);
        assertThat(read(4)).containsExactly(3, 1, 2, 0, 1);
    }

    @Test
    void binary_isLittleEndian64Bit() throws Exception {
        Files.write(file, binary(3, 1, 70_000, 0));
        assertThat(read(70_001)).containsExactly(3, 1, 70_000, 0);
    }

    @Test
    void binary_longerThanOneBuffer() throws Exception {
        long[] indices = new long[20_000];
        for (int i = 0; i < indices.length; i++) {
            indices[i] = (i * 7L) % 20_000;
        }
        Files.write(file, binary(indices));
        int[] order = read(20_000);
        assertThat(order).hasSize(20_000);
        assertThat(order[19_999]).isEqualTo((int) indices[19_999]);
    }

    @Test
    void empty_isAnEmptyOrder() throws Exception {
        Files.writeString(file, "");
        assertThat(read(4)).isEmpty();
    }

    @Test
    void outOfRange_isRefused() throws Exception {
        Files.writeString(file, "0\n4\n");
        assertRefused(4, "number 2 of");
        Files.writeString(file, "99999999999999999999999\n");
        assertRefused(4, "out of range");
        Files.write(file, binary(0, -1));
        assertRefused(4, "number 2 of");
        Files.write(file, binary(1L << 32));
        assertRefused(4, "out of range");
    }

    @Test
    void carriageReturnBetweenDigits_isRefused() throws IOException {
        Files.writeString(file, "0\n1\r2\n");
        assertRefused(400, "line 2 of");
        Files.writeString(file, "0\r1\r2\r");
        assertRefused(400, "has a carriage return between digits");
    }

    @Test
    void brokenFiles_areRefused() throws IOException {
        assertRefused(4, "cannot read order file");
        Files.write(file, new byte[12]);
        assertRefused(4, "64-bit indices take 8 each");
        Files.write(file, new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
        assertRefused(4, "is a .npy file");
        Files.writeString(file, "x".repeat(5000));
        assertRefused(4, "needs a mounted dataset");
    }

    @Test
    void paths_areNumberedByTheDataset() throws Exception {
        Files.write(file, List.of("a/2.jpg", "a/b c.jpg", "1", "a/2.jpg"));
        List<String> samples = List.of("1", "a/2.jpg", "a/b c.jpg");
        SamplerSetting setting = new SamplerSetting(3, 0, () -> path -> samples.indexOf(new String(path, UTF_8)));
        assertThat(read(setting, "")).containsExactly(1, 2, 0, 1);
        assertRefused(3, "needs a mounted dataset");
        Files.write(file, List.of("a/2.jpg", "a/gone.jpg"));
        assertThatThrownBy(() -> read(setting, ""))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining("line 2 of")
                .hasMessageContaining("a/gone.jpg is no sample");
    }

    private int[] read(SamplerSetting setting, String more) throws InvalidSpecException {
        EpochOrder order = Samplers.create(setting, Keys.parse("sampler=order-file file=" + file + more))
                .epoch(0);
        int[] indices = new int[order.length(0)];
        for (int step = 0; step < indices.length; step++) {
            indices[step] = order.sample(0, step);
        }
        return indices;
    }

    @Test
    void epochOfWhichARanksFileIsMissing_isNotRead() throws Exception {
        Files.writeString(directory.resolve("r0"), "this is no order\n");
        Files.writeString(directory.resolve("r1"), "1\n");
        Sampler sampler = Samplers.create(
                new SamplerSetting(4), Keys.parse("sampler=order-file world=3 file=" + directory + "/r{rank}"));
        for (int asked = 0; asked < 2; asked++) {
            assertThatThrownBy(() -> sampler.epoch(0))
                    .isInstanceOf(OrderNotReadyException.class)
                    .hasMessageContaining("no such file");
        }
        Files.writeString(directory.resolve("r0"), "0\n");
        Files.writeString(directory.resolve("r2"), "2\n");
        assertThatThrownBy(() -> sampler.epoch(0)).hasMessageContaining("still being written");
        assertThat(sampler.epoch(0).sample(2, 0)).isEqualTo(2);
    }

    @Test
    void fileOfALaterEpoch_thatHasJustBeenChanged_isReadWhenTwoLooksAgree() throws Exception {
        Sampler sampler = Samplers.create(
                new SamplerSetting(4), Keys.parse("sampler=order-file file=" + directory + "/e{epoch}"));
        for (int epoch = 0; epoch < 3; epoch++) {
            Path written = Files.writeString(directory.resolve("e" + epoch), "1\n");
            long hours = epoch == 2 ? -1 : 1; // of a writer whose clock is ahead
            Files.setLastModifiedTime(written, FileTime.from(Instant.now().plus(hours, ChronoUnit.HOURS)));
        }
        assertThat(sampler.isReady(1)).isFalse();
        assertThat(sampler.isReady(2)).isTrue();
        assertThat(sampler.epoch(0).length(0)).as("was there with the job").isEqualTo(1);
        assertThat(sampler.epoch(2).length(0)).as("is old").isEqualTo(1);
        assertThatThrownBy(() -> sampler.epoch(1))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessageContaining("still being written");
        Files.writeString(directory.resolve("e1"), "2\n3\n");
        assertThatThrownBy(() -> sampler.epoch(1)).isInstanceOf(OrderNotReadyException.class);
        assertThat(sampler.epoch(1).length(0)).isEqualTo(2);
    }

    @Test
    void fileThatCannotBeReadForAMoment_isReadAnotherTime() throws Exception {
        Sampler sampler = Samplers.create(
                new SamplerSetting(4), Keys.parse("sampler=order-file file=" + directory + "/e{epoch}"));
        Path later = directory.resolve("e1");
        Files.createSymbolicLink(later, later); // the file system refuses a loop, for everybody
        for (int asked = 0; asked < 3; asked++) {
            assertThatThrownBy(() -> sampler.epoch(1))
                    .isInstanceOfSatisfying(
                            OrderNotReadyException.class,
                            e -> assertThat(e.isMissing()).isFalse())
                    .hasMessageContaining("cannot read order file")
                    .hasMessageNotContaining("no such file");
        }
        Files.delete(later);
        assertThatThrownBy(() -> sampler.epoch(1))
                .isInstanceOfSatisfying(
                        OrderNotReadyException.class,
                        e -> assertThat(e.isMissing()).isTrue());
        Files.writeString(later, "3\n");
        assertThatThrownBy(() -> sampler.epoch(1)).hasMessageContaining("still being written");
        assertThat(sampler.epoch(1).sample(0, 0)).isEqualTo(3);
    }

    @Test
    void onlyDeniedAccess_isForGood() {
        assertThat(OrderFile.unreadable("e1", new AccessDeniedException("e1")))
                .isExactlyInstanceOf(InvalidSpecException.class)
                .hasMessage("cannot read order file e1: permission denied");
        assertThat(OrderFile.unreadable("e1", new IOException("Input/output error")))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessage("cannot read order file e1: Input/output error");
        assertThat(OrderFile.unreadable("e1", new FileSystemException("e1", "", "Stale file handle")))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessage("cannot read order file e1: Stale file handle");
    }

    @Test
    void names_standForEpochAndRank() throws Exception {
        for (int epoch = 0; epoch < 2; epoch++) {
            for (int rank = 0; rank < 2; rank++) {
                Files.writeString(directory.resolve("e" + epoch + "-r" + rank), epoch + "\n" + rank + "\n");
            }
        }
        String line = "sampler=order-file samples=4 world=2 file=" + directory + "/e{epoch}-r{rank}";
        assertThat(OrderSpec.parse(line + " epoch=1 rank=0").indices()).containsExactly(1, 0);
        assertThat(OrderSpec.parse(line + " epoch=0 rank=1").indices()).containsExactly(0, 1);
        assertThatThrownBy(() -> OrderSpec.parse(line + " epoch=2"))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining("e2-r0");
    }
}
