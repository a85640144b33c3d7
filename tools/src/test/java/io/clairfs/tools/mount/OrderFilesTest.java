package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A job with order files that are written while it runs. */
@Timeout(600)
final class OrderFilesTest {
    private static final int SAMPLES = 80;
    private static final int HALF = SAMPLES / 2;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path source;
    private Path orders;
    private LiveMount mount;

    @BeforeEach
    void mountWithTheFirstOrder() throws Exception {
        source = fixture.newDirectory("source");
        for (int i = 0; i < SAMPLES; i++) {
            Files.writeString(source.resolve("s" + i), "sample " + i + " ".repeat(1000 + i));
        }
        orders = fixture.newDirectory("orders");
        write(0, SAMPLES);
        mount = fixture.mount(source, "--index-rule", "sorted");
        mount.awaitReady();
        mount.job("sampler=order-file epochs=2 batch=4 file=" + orders + "/{epoch}");
    }

    /** The file comes whole: one that stays as it is for a second is taken for written. */
    private void write(int epoch, int samples) throws IOException {
        List<Integer> order = IntStream.range(0, samples)
                .boxed()
                .collect(Collectors.toList()); // must be mutable: it is shuffled below
        Collections.shuffle(order, new Random(epoch));
        Path fresh = Files.write(
                orders.resolve("fresh"), order.stream().map(Object::toString).toList());
        Files.move(fresh, orders.resolve(String.valueOf(epoch)), StandardCopyOption.ATOMIC_MOVE);
    }

    private void read(int epoch, int from, int count) throws IOException, InterruptedException {
        String equal = fixture.python("read_in_order.py", mount.point(), source, "train", epoch, count, 1000, from);
        assertThat(equal.strip()).isEqualTo(String.valueOf(count));
    }

    private void awaitStaged(int ahead) throws IOException, InterruptedException {
        mount.await(ahead + " staged", s -> s.at("/jobs/0/staged_ahead").asInt() == ahead);
    }

    private void requireInSync(boolean done) throws IOException {
        JsonNode job = mount.status().at("/jobs/0");
        assertThat(job.path("in_sync").asBoolean()).isTrue();
        assertThat(job.path("deviations").asInt()).isZero();
        assertThat(job.path("done").asBoolean()).isEqualTo(done);
    }

    // Promise J6
    @Test
    void order_of_the_next_epoch_may_be_written_while_this_one_is_read() throws Exception {
        awaitStaged(SAMPLES);
        read(0, 0, HALF);
        awaitStaged(HALF);
        requireInSync(false);
        write(1, SAMPLES);
        awaitStaged(SAMPLES); // those of the second half are read twice but count once
        read(0, HALF, HALF);
        read(1, 0, SAMPLES);
        awaitStaged(0);
        requireInSync(true);
        assertThat(mount.status().at("/fetched/source/count").asInt()).isEqualTo(SAMPLES);
        assertThat(mount.lines("errors")).isEmpty();
    }

    // Promise J6
    @Test
    void order_that_is_late_is_waited_for_and_errors_says_so() throws Exception {
        awaitStaged(SAMPLES);
        read(0, 0, SAMPLES);
        String reason = "job train waits for the order of its next epoch: cannot read order file " + orders
                + "/1: no such file";
        Waiting.until("told", () -> mount.lines("errors").stream().anyMatch(line -> line.contains(reason)));
        write(1, SAMPLES);
        awaitStaged(SAMPLES);
        read(1, 0, SAMPLES);
        awaitStaged(0);
        requireInSync(true);
    }

    @Test
    void order_that_cannot_be_followed_ends_the_job_with_its_reason() throws Exception {
        awaitStaged(SAMPLES);
        write(1, SAMPLES + 1);
        mount.await("ended", s -> s.path("jobs").isEmpty());
        assertThat(mount.lines("errors"))
                .allMatch(
                        line -> line.contains(orders + "/1 is out of range")) // a plan that met the file tells it, too
                .anyMatch(line -> line.contains("job train ended: number ")); // told before the job goes
    }
}
