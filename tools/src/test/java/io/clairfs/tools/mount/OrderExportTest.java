package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.spec.OrderSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code clairfs order --out}: the orders of many epochs and all ranks as files for other frameworks. */
@Timeout(600)
final class OrderExportTest {
    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Ended export(Object... arguments) throws IOException, InterruptedException {
        List<Object> command = new ArrayList<>(List.of("order", "--samples", 1001));
        command.addAll(List.of(arguments));
        return fixture.clairfs(command.toArray());
    }

    private static byte[] expected(String spec) throws Exception {
        int[] indices = OrderSpec.parse("samples=1001 " + spec).indices();
        ByteBuffer bytes = ByteBuffer.allocate(indices.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int index : indices) {
            bytes.putLong(index);
        }
        return bytes.array();
    }

    private static List<String> files(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(Files::isRegularFile)
                    .map(file -> directory.relativize(file).toString())
                    .sorted()
                    .toList();
        }
    }

    @Test
    void every_rank_of_every_epoch_has_its_file() throws Exception {
        for (String keys : List.of("seed=5 world=2", "sampler=accelerate seed=5 batch=8 world=2")) {
            Path out = fixture.newDirectory("out");
            List<Object> arguments = new ArrayList<>(List.of(keys.split(" ")));
            arguments.addAll(List.of("--epochs", "9-11", "--out", out + "/{epoch}/{rank}.i64"));
            Ended ended = export(arguments.toArray());
            assertThat(ended.succeeded()).startsWith("6 files, ");
            assertThat(files(out))
                    .containsExactly("10/0.i64", "10/1.i64", "11/0.i64", "11/1.i64", "9/0.i64", "9/1.i64");
            for (int epoch = 9; epoch <= 11; epoch++) {
                for (int rank = 0; rank < 2; rank++) {
                    String place = " epoch=" + epoch + " rank=" + rank;
                    assertThat(Files.readAllBytes(out.resolve(epoch + "/" + rank + ".i64")))
                            .as(keys + place)
                            .isEqualTo(expected(keys + place));
                    String asFile = "sampler=order-file world=2 file=" + out + "/{epoch}/{rank}.i64" + place;
                    assertThat(expected(asFile)).as(asFile).isEqualTo(expected(keys + place));
                }
            }
        }
    }

    @Test
    void one_rank_or_one_epoch_needs_no_place_in_the_name() throws Exception {
        Path out = fixture.newDirectory("out");
        export("--seed=5", "--world=4", "--rank=3", "--epoch=2", "--out", out.resolve("one"))
                .succeeded();
        assertThat(Files.readAllBytes(out.resolve("one"))).isEqualTo(expected("seed=5 world=4 rank=3 epoch=2"));
        assertThat(files(out)).containsExactly("one");
    }

    @Test
    void what_cannot_be_written_is_one_line() throws Exception {
        Path out = fixture.newDirectory("out");
        assertThat(export("--epochs=0-89", "--out", out + "/{rank}").complainedWith(1))
                .contains("--out has no {epoch}, but there are 90 epochs", "DIR/{epoch}/{rank}.i64");
        assertThat(export("--world=2", "--out", out + "/{epoch}").complainedWith(1))
                .contains("--out has no {rank}, but there are 2 ranks");
        assertThat(export("--out", out + "/{step}").complainedWith(1)).contains("--out has {step}");
        assertThat(export("--out", out).complainedWith(1)).contains("--out names a directory");
        assertThat(export("--epochs=3-1", "--out", out + "/{epoch}").complainedWith(1))
                .contains("runs backwards");
        assertThat(export("--epochs=all", "--out", out + "/{epoch}").complainedWith(1))
                .contains("neither a number like 7 nor a range like 0-89");
        assertThat(export("--epochs=0-1").complainedWith(2)).contains("--epochs goes with --out or --stats");
        assertThat(export("--epochs=0-1", "--epoch=1", "--out", out + "/{epoch}")
                        .complainedWith(2))
                .contains("give one of --epoch and --epochs");
        assertThat(export("--world=2", "--rank=2", "--out", out + "/one").complainedWith(1))
                .contains("rank=2 is out of range: 0 to 1");
        assertThat(export("--epochs=0-999999999", "--out", out + "/{epoch}").complainedWith(1))
                .contains("more than 10000000 files");
        Files.createFile(out.resolve("file"));
        assertThat(export("--out", out.resolve("file/one")).complainedWith(1))
                .contains("cannot write " + out.resolve("file/one"), out.resolve("file") + " is not a directory");
        assertThat(files(out)).containsExactly("file");
    }

    @Test
    void disk_that_is_full_leaves_whole_files_and_says_so() throws Exception {
        Requirements.root();
        try (SmallDisk disk = SmallDisk.mount(fixture, 64 << 10)) {
            Path out = disk.path().resolve("orders");
            Ended ended = export("--seed=5", "--epochs=0-89", "--out", out + "/{epoch}.i64");
            assertThat(ended.exit()).isEqualTo(1);
            assertThat(ended.err()
                            .lines()
                            .toList()
                            .getLast()) // of a slow machine it may be the progress that comes first
                    .startsWith("clairfs: ")
                    .contains("cannot write " + out, "No space left on device", " of 90 files are written");
            List<String> written = files(out);
            assertThat(written).isNotEmpty().allMatch(name -> name.endsWith(".i64") && !name.startsWith("."));
            for (String name : written) {
                assertThat(Files.readAllBytes(out.resolve(name)))
                        .isEqualTo(expected("seed=5 epoch=" + name.replace(".i64", "")));
            }
        }
    }
}
