package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** The orders as numbers, from which a trainer reads what it does not compute itself. */
@Timeout(1200)
final class TrainerOrderFilesTest {
    private static final int SAMPLES = 103;
    private static final int EPOCHS = 2;
    private static final int WORLD = 3;

    private static final List<String> WITH_RANKS = List.of(
            "sampler=torch-distributed seed=7",
            "sampler=torch-distributed seed=-7 drop_last=true",
            "sampler=torch-distributed seed=7 batch=8 drop_last_batch=true",
            "sampler=accelerate seed=42 batch=4",
            "sampler=accelerate seed=42 batch=6 split_batches=true even_batches=false",
            "sampler=grain seed=5",
            "sampler=dali",
            "sampler=dlio version=v3 batch=4");

    private static final List<String> WITHOUT_RANKS = List.of(
            "sampler=torch-generator seed=1 batch=8 workers=2",
            "sampler=torch-randperm seed=3",
            "sampler=numpy-legacy seed=5",
            "sampler=python-random seed=5",
            "sampler=hf-datasets seed=9",
            "sampler=sequential");

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static LiveMount mount;

    @BeforeAll
    static void mountImages() throws IOException, InterruptedException {
        Path source = FIXTURE.newDirectory("source");
        for (int i = 0; i < SAMPLES; i++) {
            Path directory = Files.createDirectories(source.resolve(i % 3 == 0 ? "train/a" : "train/ä"));
            Files.writeString(directory.resolve(i + ".jpg"), "image " + i);
        }
        Files.createDirectories(source.resolve("val/a"));
        Files.writeString(source.resolve("val/a/1.jpg"), "image");
        mount = FIXTURE.mount(source);
        mount.awaitReady();
    }

    @AfterEach
    void stopJobs() throws IOException {
        mount.stopJobs();
    }

    private static int[] numbers(String job, int epoch, int rank) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file(job, epoch, rank + ".i64")))
                .order(ByteOrder.LITTLE_ENDIAN);
        int[] numbers = new int[bytes.remaining() / Long.BYTES];
        Arrays.setAll(numbers, _ -> Math.toIntExact(bytes.getLong()));
        assertThat(bytes.hasRemaining()).isFalse();
        return numbers;
    }

    private static Path file(String job, Object epoch, String rank) {
        return mount.control("order").resolve(job).resolve(epoch.toString()).resolve(rank);
    }

    private static int[] numbers(String line) {
        return Stream.of(line.split(" ", -1)).mapToInt(Integer::parseInt).toArray();
    }

    // Promise J9
    @Test
    void numbers_are_those_of_the_command_for_every_sampler() throws Exception {
        List<String> specs = new ArrayList<>();
        List<int[]> read = new ArrayList<>();
        for (String keys :
                Stream.concat(WITH_RANKS.stream(), WITHOUT_RANKS.stream()).toList()) {
            int world = WITH_RANKS.contains(keys) ? WORLD : 1;
            String name = "o" + specs.size();
            mount.job("name=" + name + " epochs=" + EPOCHS + " world=" + world + " subset=train " + keys);
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                for (int rank = 0; rank < world; rank++) {
                    specs.add("samples=" + SAMPLES + " world=" + world + " epoch=" + epoch + " rank=" + rank + " "
                            + keys);
                    read.add(numbers(name, epoch, rank));
                }
            }
            mount.job("stop=" + name);
        }
        Path all = Files.write(FIXTURE.directory().resolve("specs"), specs);
        List<String> lines =
                FIXTURE.clairfs("order", "--from", all).succeeded().lines().toList();
        assertThat(lines).hasSameSizeAs(specs);
        for (int i = 0; i < lines.size(); i++) {
            assertThat(read.get(i)).as(specs.get(i)).isEqualTo(numbers(lines.get(i)));
        }
    }

    // Promise J9
    @Test
    void every_rank_of_the_world_can_be_read_and_a_listing_shows_those_that_read_here() throws Exception {
        mount.job("name=wide seed=1 epochs=2 world=8 ranks=2-3 subset=train");
        assertThat(names(mount.control("order"))).containsExactly("wide");
        assertThat(names(mount.control("order/wide"))).containsExactly("0", "1");
        assertThat(names(mount.control("order/wide/1"))).containsExactly("2", "2.i64", "3", "3.i64");
        for (int rank = 0; rank < 8; rank++) {
            assertThat(numbers("wide", 1, rank))
                    .isEqualTo(mount.order("wide", 1, rank).stream()
                            .mapToInt(Integer::parseInt)
                            .toArray());
        }
        for (Path none : List.of(
                file("nobody", 0, "0.i64"),
                file("wide", 2, "0.i64"),
                file("wide", 0, "8.i64"),
                file("wide", 0, "-1.i64"),
                file("wide", 0, ".i64"),
                file("wide", 0, "0.i32"),
                file("wide", "00", "0.i64"))) {
            assertThatThrownBy(() -> Files.readAllBytes(none)).as("%s", none).isInstanceOf(NoSuchFileException.class);
        }
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(e -> e.getFileName().toString()).sorted().toList();
        }
    }

    // Promise J10
    @Test
    void order_that_has_still_to_be_written_is_tried_again_and_no_error() throws Exception {
        Path orders = FIXTURE.newDirectory("orders");
        Files.writeString(orders.resolve("0"), "1\n2\n");
        mount.job("name=late sampler=order-file epochs=2 subset=train file=" + orders + "/{epoch}");
        assertThat(numbers("late", 0, 0)).containsExactly(1, 2);
        long errors = mount.status().path("errors").asLong();
        assertThatThrownBy(() -> numbers("late", 1, 0))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("Resource temporarily unavailable");
        assertThat(mount.status().path("errors").asLong()).isEqualTo(errors);
        // Whole at once: one that stays as it is for a second is taken for written.
        Path fresh = Files.writeString(orders.resolve("fresh"), "2\n1\n");
        Files.move(fresh, orders.resolve("1"), StandardCopyOption.ATOMIC_MOVE);
        int[] read = null;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
        while (read == null && System.nanoTime() < deadline) {
            try {
                read = numbers("late", 1, 0);
            } catch (FileSystemException notReady) {
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }
        assertThat(read).containsExactly(2, 1);
    }

    @Test
    void a_resumed_run_s_trainer_skips_by_itself() throws Exception {
        mount.job("name=resumed seed=1 epochs=3 batch=4 start_epoch=1 skip_batches=2 subset=train");
        int[] whole = numbers("resumed", 1, 0);
        assertThat(whole).hasSize(SAMPLES);
        assertThat(mount.order("resumed", 1, 0))
                .isEqualTo(
                        Arrays.stream(whole).skip(8).mapToObj(Integer::toString).toList());
    }

    @Test
    void readers_at_the_same_time_each_read_their_own_order() throws Exception {
        mount.job("name=many seed=4 epochs=8 world=4 ranks=0-3 subset=train");
        List<Callable<Void>> readers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            int epoch = i % 8;
            int rank = i / 8 % 4;
            readers.add(() -> {
                assertThat(numbers("many", epoch, rank))
                        .isEqualTo(mount.order("many", epoch, rank).stream()
                                .mapToInt(Integer::parseInt)
                                .toArray());
                return null;
            });
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
            for (Future<Void> read : threads.invokeAll(readers)) {
                assertThat(read.get()).isNull();
            }
        }
    }

    @Test
    void a_sample_s_number_leads_to_its_path() throws Exception {
        mount.job("name=t seed=1 subset=train\nname=all seed=1");
        List<String> index = mount.lines("index");
        for (int sample : new int[] {0, 1, SAMPLES - 1}) {
            assertThat(mount.read("sample/all/" + sample)).isEqualTo(index.get(sample) + "\n");
            assertThat(mount.read("sample/t/" + sample)).startsWith("train/").endsWith(".jpg\n");
        }
        for (String none : List.of("sample/t/" + SAMPLES, "sample/t/x", "sample/nobody/0")) {
            assertThatThrownBy(() -> mount.read(none)).as(none).isInstanceOf(NoSuchFileException.class);
        }
        JsonNode job = mount.status().at("/jobs/0");
        assertThat(job.path("samples").asInt()).isEqualTo(SAMPLES);
        assertThat(job.path("subset").asString()).isEqualTo("train");
        assertThat(mount.status().at("/jobs/1/samples").asInt()).isEqualTo(SAMPLES + 1);
    }
}
