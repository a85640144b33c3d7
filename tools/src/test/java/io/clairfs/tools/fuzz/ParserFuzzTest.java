package io.clairfs.tools.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.spec.OrderSpec;
import io.clairfs.cache.order.spec.Samplers;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.tools.config.ConfigFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The parsers of user input: job lines, order files, manifests, configurations. */
final class ParserFuzzTest {
    private static final int SAMPLES = 60;
    private static final List<String> KEYS = List.of(
            "seed=",
            "sampler=",
            "epochs=",
            "batch=",
            "world=",
            "ranks=",
            "drop_last=",
            "start_epoch=",
            "start_step=",
            "subset=",
            "workers=",
            "prefetch_factor=",
            "shuffle=",
            "draws_before=",
            "draws_between=",
            "4611686018427387903",
            "file=",
            "state=",
            "stop=",
            "name=",
            "=",
            " ",
            "-",
            "0",
            "/",
            "..",
            "{epoch}",
            "{rank}",
            "true",
            "false",
            "\u0000",
            "\t");

    @TempDir
    Path directory;

    private Path write(byte[] bytes) throws IOException {
        return Files.write(directory.resolve("input"), bytes);
    }

    private static String jobLine(Fuzz fuzz) {
        String sampler = fuzz.oneOf(Samplers.names().toArray(String[]::new));
        StringBuilder line = new StringBuilder("seed=" + fuzz.random().nextInt(1000) + " sampler=" + sampler);
        for (String pair : List.of(
                "epochs=3",
                "world=4",
                "ranks=0-1",
                "batch=8",
                "drop_last=true",
                "workers=2",
                "start_epoch=1",
                "start_step=2",
                "subset=c0",
                "name=x",
                "shuffle=false")) {
            if (fuzz.random().nextInt(4) == 0) {
                line.append(' ').append(pair);
            }
        }
        return line.toString();
    }

    // Promise P11
    @Test
    void jobLine_isTakenOrRefusedInOneLine() throws Exception {
        SampleIndex index = index("hf-imagefolder"); // which follows no link
        List<String> words = new ArrayList<>(KEYS);
        words.addAll(Samplers.names());
        Fuzz fuzz = Fuzz.of("job lines", 30_000, words);
        Refused refused = new Refused(fuzz, InvalidSpecException.class);
        while (fuzz.next()) {
            String line = fuzz.random().nextInt(5) == 0
                    ? new String(fuzz.bytes(), ISO_8859_1)
                    : fuzz.random().nextInt(5) == 0 ? jobLine(fuzz) : fuzz.mutated(jobLine(fuzz));
            refused.readIsTaken(() -> {
                JobSpec spec = JobSpec.parse(line);
                EpochOrder order = spec.sampler(index).epoch(spec.startEpoch());
                for (int rank = spec.firstRank(); rank <= spec.lastRank(); rank++) {
                    for (int step = 0; step < Math.min(order.length(rank), 1000); step++) {
                        assertThat(order.sample(rank, step)).isBetween(0, index.size() - 1);
                    }
                }
            });
        }
        refused.sayAndCheck();
    }

    private static byte[] orderFile(Fuzz fuzz) {
        int[] order = IntStream.generate(() -> fuzz.random().nextInt(SAMPLES))
                .limit(40)
                .toArray();
        if (fuzz.random().nextBoolean()) {
            ByteBuffer bytes = ByteBuffer.allocate(order.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            IntStream.of(order).forEach(bytes::putLong);
            return bytes.array();
        }
        StringBuilder text = new StringBuilder();
        IntStream.of(order).forEach(i -> text.append(i).append('\n'));
        return text.toString().getBytes(ISO_8859_1);
    }

    // Promise P11
    @Test
    void orderFile_isTakenOrRefusedInOneLine() throws Exception {
        Fuzz fuzz =
                Fuzz.of("order files", 10_000, List.of("\n", "\r\n", "\u0000", "7", "-", "\u0093NUMPY", "c0/1.jpg"));
        Refused refused = new Refused(fuzz, InvalidSpecException.class);
        while (fuzz.next()) {
            Path file = write(fuzz.random().nextInt(5) == 0 ? fuzz.bytes() : fuzz.mutated(orderFile(fuzz)));
            refused.readIsTaken(() -> assertThat(
                            IntStream.of(OrderSpec.parse("sampler=order-file samples=" + SAMPLES + " file=" + file)
                                    .indices()))
                    .allMatch(i -> i >= 0 && i < SAMPLES));
        }
        refused.sayAndCheck();
    }

    // Promise P11
    @Test
    void stateOfAGenerator_isTakenOrRefusedInOneLine() throws Exception {
        Fuzz fuzz = Fuzz.of("generator states", 5_000, List.of());
        Refused refused = new Refused(fuzz, InvalidSpecException.class);
        byte[] state = new byte[5056];
        while (fuzz.next()) {
            fuzz.random().nextBytes(state);
            Path file = write(fuzz.random().nextInt(4) == 0 ? state : fuzz.mutated(state));
            refused.readIsTaken(() -> OrderSpec.parse("sampler=torch-state samples=" + SAMPLES + " state=" + file)
                    .indices());
        }
        refused.sayAndCheck();
    }

    private SampleIndex index(String rule) throws Exception {
        Path root = directory.resolve("source");
        if (Files.notExists(root)) {
            for (int i = 0; i < SAMPLES; i++) {
                Path parent = Files.createDirectories(root.resolve("c" + i % 3));
                Files.writeString(parent.resolve(i + ".jpg"), "sample " + i);
            }
            Path outside = Files.createDirectories(directory.resolve("outside"));
            Files.writeString(outside.resolve("passwd"), "not of the dataset");
            Files.createSymbolicLink(root.resolve("out"), outside);
            Files.createSymbolicLink(root.resolve("loop"), root);
        }
        try (DirectorySource source = new DirectorySource(root);
                DatasetTree tree = new DatasetTree(source, 2, _ -> {})) {
            tree.complete().join();
            return IndexRule.of(rule).index(tree, tree.root());
        }
    }

    // Promise P11
    @Test
    void manifest_isTakenOrRefusedInOneLine() throws Exception {
        Fuzz fuzz = Fuzz.of(
                "manifests", 2_000, List.of("c0/", "c1/1.jpg", "/", "..", "loop/", "out/passwd", "\n", "\r", "\u0000"));
        Refused refused = new Refused(fuzz, DatasetException.class);
        while (fuzz.next()) {
            StringBuilder text = new StringBuilder();
            for (int line = fuzz.random().nextInt(20); line >= 0; line--) {
                int i = fuzz.random().nextInt(SAMPLES);
                text.append('c').append(i % 3).append('/').append(i).append(".jpg\n");
            }
            byte[] valid = text.toString().getBytes(ISO_8859_1);
            Path manifest = write(
                    switch (fuzz.random().nextInt(5)) {
                        case 0 -> fuzz.bytes();
                        case 1 -> valid;
                        default -> fuzz.mutated(valid);
                    });
            refused.readIsTaken(() -> {
                SampleIndex index = index("manifest:" + manifest);
                for (int i = 0; i < index.size(); i++) {
                    String path = new String(index.path(i), ISO_8859_1);
                    assertThat(path).doesNotContain("..", "out/");
                    assertThat(path).contains(".jpg");
                }
            });
        }
        refused.sayAndCheck();
    }

    // Promise P11
    @Test
    void configuration_isTakenOrRefusedInOneLine() throws Exception {
        String valid = """
                mount:
                  memory: 64GiB
                  ssd: [/local/clairfs:800GB]
                  loaders: 32
                  read-timeout: 20
                model:
                  source: {latency: 0.004, read: {1: 24.0, 8: 180.0, 32: 410.0}}
                  ssd: {latency: 0.0001, read: {1: 400.0, 4: 1500.0}, write: {1: 300.0, 4: 900.0}}
                  network: 1000
                """;
        Fuzz fuzz = Fuzz.of(
                "configurations",
                6_000,
                List.of(
                        "mount:",
                        "model:",
                        "&a",
                        "*a",
                        "- ",
                        "{",
                        "}",
                        "[",
                        "]",
                        "? ",
                        ": ",
                        "!!java.io.File ",
                        "| ",
                        "%YAML 1.1\n",
                        "---\n",
                        "...\n",
                        "<<: *a",
                        "\t",
                        "\n",
                        "null",
                        "1e999",
                        ".nan",
                        ".inf",
                        "\"",
                        "'",
                        "\\u0000",
                        "0x7fffffffffffffff"));
        Refused refused = new Refused(fuzz, IOException.class);
        while (fuzz.next()) {
            Path config = write(
                    switch (fuzz.random().nextInt(5)) {
                        case 0 -> fuzz.bytes();
                        case 1 -> valid.getBytes(ISO_8859_1);
                        default -> fuzz.mutated(valid.getBytes(ISO_8859_1));
                    });
            refused.readIsTaken(() -> ConfigFile.read(config));
        }
        refused.sayAndCheck();
    }

    // Promise P11
    @Test
    void configurationThatGrows_isRefused() throws Exception {
        StringBuilder bomb = new StringBuilder("model:\n  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for (int i = 1; i < 12; i++) {
            bomb.append("  a").append(i).append(": &a").append(i).append(" [");
            bomb.append(("*a" + (i - 1) + ",").repeat(9))
                    .append("*a")
                    .append(i - 1)
                    .append("]\n");
        }
        for (byte[] bytes : List.of(
                bomb.toString().getBytes(ISO_8859_1),
                "[".repeat(200_000).getBytes(ISO_8859_1),
                ("mount: " + "{a: ".repeat(100_000)).getBytes(ISO_8859_1),
                ("mount: {memory: " + "9".repeat(4_000_000) + "}").getBytes(ISO_8859_1))) {
            Path config = write(bytes);
            Refused refused = new Refused(Fuzz.of("bombs", 0, List.of()), IOException.class);
            assertThat(refused.readIsTaken(() -> ConfigFile.read(config))).isFalse();
        }
    }
}
