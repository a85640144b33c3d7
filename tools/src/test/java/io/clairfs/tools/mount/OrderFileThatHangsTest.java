package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.fs.faulty.Fault;
import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.faulty.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A job with an order file on a file system that does not answer, beside another job. */
@Timeout(600)
final class OrderFileThatHangsTest {
    private static final int SAMPLES = 6_000;

    /** In each epoch of the first job, others in the second one. More than are looked at when the job begins. */
    private static final int READ = 5_000;

    private static final int OF_THE_OTHER = 40;
    private static final Duration UNTIL_LIFTED = Duration.ofMinutes(2);
    private static final JsonMapper JSON = new JsonMapper();

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private FaultyMount orders;
    private LiveMount mount;

    @BeforeEach
    void start() throws Exception {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("a"), SAMPLES, 100);
        Images.make(source.resolve("b"), OF_THE_OTHER, 100);
        Path written = fixture.newDirectory("written");
        write(written.resolve("0"), 0);
        write(written.resolve("1"), SAMPLES - READ);
        orders = FaultyMount.mount(written, fixture.newDirectory("orders"), FaultyMount.FAST);
        mount = fixture.mount(source, "--index-rule", "sorted", "--memory", "64MiB");
        mount.awaitReady();
    }

    @AfterEach
    void unmount() throws Exception {
        if (orders != null) {
            orders.liftAll();
        }
        if (mount != null) {
            Ended _ = fixture.clairfs("umount", mount.point());
        }
        if (orders != null) {
            orders.close();
        }
    }

    private static void write(Path file, int first) throws IOException {
        Files.write(
                file,
                IntStream.range(first, first + READ).mapToObj(Integer::toString).toList());
    }

    /** How many samples of a job the plan wants here; -1 while there is none for the job. */
    private int planned(String job) throws IOException {
        for (JsonNode each : JSON.readTree(mount.read("warm.json")).path("jobs")) {
            if (each.path("name").asString().equals(job)
                    && each.path("is_planned").asBoolean()) {
                return each.at("/wanted/samples").asInt();
            }
        }
        return -1;
    }

    private static int stagedAhead(JsonNode status, String job) {
        for (JsonNode each : status.path("jobs")) {
            if (each.path("name").asString().equals(job)) {
                return each.path("staged_ahead").asInt();
            }
        }
        return -1;
    }

    private long told() throws IOException {
        return mount.lines("errors").stream()
                .filter(line ->
                        line.contains("job hangs is planned for only as far as its orders are known: order file "))
                .filter(line -> line.endsWith(" does not answer: look at its file system"))
                .count();
    }

    // Promise J21
    @Test
    void costs_no_other_job_its_plan_or_its_staging_and_is_planned_for_when_it_answers() throws Exception {
        Fault fault = orders.inject(
                FaultSpec.of(FaultKind.HANG).on(Request.STATUS).at("1").lasting(UNTIL_LIFTED));
        mount.job("name=hangs sampler=order-file epochs=2 subset=a file=" + orders.point() + "/{epoch}");
        mount.job("name=other seed=1 epochs=1 subset=b");
        mount.await("the other job is staged", s -> stagedAhead(s, "other") == OF_THE_OTHER);
        Waiting.until("the other job is planned for", () -> planned("other") == OF_THE_OTHER);
        assertThat(planned("hangs")).as("its first epoch").isEqualTo(READ);
        Waiting.until("it is told", () -> told() == 1);
        assertThat(fault.struck()).isPositive();

        fault.lift();
        Waiting.until("both epochs are planned for", () -> planned("hangs") == SAMPLES);
        assertThat(told()).isEqualTo(1);
    }

    /** Whether the mount takes this job line. */
    private boolean isTaken(String line) {
        try {
            mount.job(line);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    // Promise J22
    @Test
    void is_one_line_to_who_starts_the_job_and_the_same_line_is_taken_when_it_answers() throws Exception {
        Fault fault = orders.inject(
                FaultSpec.of(FaultKind.HANG).on(Request.STATUS).at("0").lasting(UNTIL_LIFTED));
        String line = "name=hangs sampler=order-file epochs=2 subset=a file=" + orders.point() + "/{epoch}";
        assertThatThrownBy(() -> mount.job(line))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Input/output error");
        assertThat(fault.struck()).isPositive();
        assertThat(mount.lines("errors").getLast()).endsWith(" does not answer: look at its file system");
        assertThat(mount.lines("job")).isEmpty();
        mount.job("name=other seed=1 epochs=1 subset=b");
        mount.await("the other job is staged", s -> stagedAhead(s, "other") == OF_THE_OTHER);

        fault.lift();
        Waiting.until("the same line is taken", () -> isTaken(line));
        assertThat(mount.lines("order/hangs/1/0")).hasSize(READ);
    }
}
