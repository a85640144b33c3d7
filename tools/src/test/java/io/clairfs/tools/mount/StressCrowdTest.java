package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.faulty.FileContent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The readers of the random test detect errors. Without that the random test would test nothing. */
@Timeout(600)
final class StressCrowdTest {
    private static final int FILES = 3;
    private static final int BYTES = 10_000;
    private static final long SEED = 7;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private final BlockingQueue<String[]> said = new LinkedBlockingQueue<>();

    private Path files() throws Exception {
        Path directory = fixture.newDirectory("files");
        for (int i = 0; i < FILES; i++) {
            FileContent _ = StressTruth.make(directory.resolve("f" + i), SEED + i, BYTES);
        }
        return directory;
    }

    private StressCrowdProcess crowdOver(Path directory) throws Exception {
        StressCrowdProcess crowd =
                StressCrowdProcess.start(StressCrowdProcess.compile(fixture), 2, SEED, words -> said.add(words));
        for (int i = 0; i < FILES; i++) {
            crowd.tell("file " + i + " f" + i);
        }
        crowd.tell("mount 0 " + directory);
        crowd.tell("next 0 7 10000 8 10000 9 10000");
        crowd.tell("pace 500");
        return crowd;
    }

    /** The next line of this kind. */
    private String[] next(String kind) throws InterruptedException {
        while (true) {
            String[] words = said.poll(120, TimeUnit.SECONDS);
            assertThat(words).as("a line \"%s\"", kind).isNotNull();
            if (words[0].equals(kind) && !(kind.equals("did") && words[1].equals("0"))) {
                return words;
            }
        }
    }

    @Test
    void right_bytes_are_counted_and_nothing_is_said_to_be_wrong() throws Exception {
        try (StressCrowdProcess crowd = crowdOver(files())) {
            String[] did = next("did");
            assertThat(Long.parseLong(did[1])).isPositive();
            assertThat(Long.parseLong(did[2])).isPositive();
            assertThat(crowd.end(120)).isTrue();
            assertThat(said).noneMatch(words -> words[0].equals("wrong") || words[0].equals("failed"));
        }
    }

    @Test
    void wrong_byte_is_reported_with_its_place_and_says_whose_it_is() throws Exception {
        Path directory = files();
        try (FaultyMount source = FaultyMount.mount(directory, fixture.newDirectory("source"), FaultyMount.FAST)) {
            StressTruth truth = new StressTruth(source.files());
            for (int i = 0; i < FILES; i++) {
                truth.add("f" + i, StressTruth.make(directory.resolve("f" + i), SEED + i, BYTES));
            }
            byte[] mixed = StressTruth.bytes(truth.now("f1"), 0, BYTES);
            System.arraycopy(StressTruth.bytes(truth.now("f2"), 4096, 4096), 0, mixed, 4096, 4096);
            Files.write(directory.resolve("f1"), mixed);
            try (StressCrowdProcess crowd = crowdOver(directory)) {
                String[] wrong;
                do {
                    wrong = next("wrong");
                } while (!wrong[3].equals("whole"));
                assertThat(List.of(wrong[2], wrong[11])).containsExactly("1", "4096");
                long word = ByteBuffer.wrap(java.util.HexFormat.of().parseHex(wrong[12].substring(1)))
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .getLong();
                assertThat(truth.origin(word)).isEqualTo("f2 version 0 of 1 at 4096");
                assertThat(crowd.end(120)).isTrue();
            }
        }
    }

    @Test
    void short_file_is_wrong_and_a_missing_one_fails() throws Exception {
        Path directory = files();
        try (var cut = new java.io.RandomAccessFile(directory.resolve("f0").toFile(), "rw")) {
            cut.setLength(BYTES / 2);
        }
        Files.delete(directory.resolve("f2"));
        try (StressCrowdProcess crowd = crowdOver(directory)) {
            assertThat(next("wrong")[2]).isEqualTo("0");
            String[] failed = next("failed");
            assertThat(List.of(failed[2], failed[9])).containsExactly("2", "2");
            assertThat(crowd.end(120)).isTrue();
        }
    }

    @Test
    void what_was_listed_before_is_right_until_the_next_listing_is_settled() throws Exception {
        Path directory = files();
        try (StressCrowdProcess crowd = crowdOver(directory)) {
            String[] _ = next("did");
            crowd.tell("next 0 70 10000 80 10000 90 10000");
            String[] _ = next("did");
            String[] _ = next("did");
            assertThat(said).noneMatch(words -> words[0].equals("wrong"));
            crowd.tell("settled 0");
            String[] _ = next("wrong");
            assertThat(crowd.end(120)).isTrue();
        }
    }
}
