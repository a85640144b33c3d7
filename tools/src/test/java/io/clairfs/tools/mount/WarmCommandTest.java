package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code clairfs warm}: the tiers are filled, and it ends when they are. */
@Timeout(600)
final class WarmCommandTest {
    private static final int SAMPLES = 120;
    private static final int SAMPLE_BYTES = 100_000;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path source() throws Exception {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("a"), SAMPLES, SAMPLE_BYTES);
        return source;
    }

    private static long fetched(LiveMount mount) throws Exception {
        return mount.status().at("/fetched/source/count").asLong();
    }

    /** Samples that were read from the source because the disk was slower just then, as it may be on a busy machine. */
    private static long passedOver(LiveMount mount) throws Exception {
        return mount.status().path("ssd_passed_over").asLong();
    }

    @Test
    void without_a_job_memory_and_ssd_hold_everything_afterwards_and_reads_need_no_source() throws Exception {
        Path disk = fixture.newDirectory("disk");
        LiveMount mount = fixture.mount(
                source(), "--memory", "4MiB", "--ssd", disk + ":64MiB", "--ssd-reserve", "1MiB", "--find-seed", "off");
        mount.awaitReady();
        Ended before = fixture.clairfs("warm", mount.point(), "--check");
        assertThat(before.exit()).isEqualTo(1);
        assertThat(before.out()).contains("0 of 120 samples of the dataset are here");
        assertThat(fetched(mount)).as("after --check").isZero();

        assertThat(fixture.clairfs("warm", mount.point()).succeeded())
                .startsWith("warm: 120 samples, 11.4 MiB, the whole dataset; took ");
        assertThat(mount.status().path("jobs")).as("its own job is over").isEmpty();
        JsonNode status = mount.await( // what waits for the disk's writer is here, too
                "written",
                s -> s.at("/tiers/0/samples").asInt() + s.at("/tiers/1/samples").asInt() >= SAMPLES);
        assertThat(status.at("/tiers/0/samples").asInt()).isBetween(35, 41);
        long once = fetched(mount);
        assertThat(once).isBetween((long) SAMPLES, SAMPLES + SAMPLES / 10L + passedOver(mount));
        assertThat(fixture.clairfs("warm", mount.point(), "--check").succeeded())
                .contains("120 of 120 samples of the dataset are here");
        for (String sample : mount.lines("index")) {
            assertThat(Files.readAllBytes(mount.point().resolve(sample))).hasSize(SAMPLE_BYTES);
        }
        assertThat(fetched(mount)).as("after reads").isBetween(once, once + passedOver(mount));
        assertThat(fixture.clairfs("warm", mount.point()).succeeded()).contains("the whole dataset");
        assertThat(fetched(mount)).as("after a second time").isBetween(once, once + passedOver(mount));
    }

    @Test
    void with_a_job_it_waits_for_what_the_plan_wants_and_the_job_goes_on() throws Exception {
        LiveMount mount = fixture.mount(source(), "--memory", "4MiB");
        mount.awaitReady();
        assertThat(fixture.clairfs("warm", mount.point(), "--job", "train").complainedWith(1))
                .contains("there is no job 'train' here; start it: clairfs job start");
        mount.job("seed=5");
        assertThat(fixture.clairfs("warm", mount.point(), "--job", "other").complainedWith(1))
                .contains("there is no job 'other' here, but train;");

        assertThat(fixture.clairfs("warm", mount.point(), "--job", "train").succeeded())
                .contains("all that is planned here")
                .contains("more of the dataset are not kept");
        JsonNode warm = new JsonMapper().readTree(mount.read("warm.json"));
        assertThat(warm.at("/wanted/samples").asInt()).isBetween(35, 41);
        assertThat(warm.path("there")).isEqualTo(warm.path("wanted"));
        assertThat(warm.at("/jobs/0/wanted")).isEqualTo(warm.path("wanted"));
        assertThat(mount.status().at("/jobs/0/name").asString()).isEqualTo("train");
        assertThat(fixture.clairfs("warm", mount.point(), "--check").succeeded())
                .contains(" wanted samples are here (100 %)");
    }

    @Test
    void in_a_group_a_job_has_to_say_what_is_read_here() throws Exception {
        LiveMount mount = fixture.mount(source(), "--memory", "64MiB", "--bind", "127.0.0.1:" + TestPorts.free(2));
        mount.await("joined", now -> now.at("/group/joined").asBoolean());
        assertThat(fixture.clairfs("warm", mount.point()).complainedWith(1))
                .contains("in a group of nodes a job has to say");
        mount.job("seed=5 world=2 ranks=0-1");
        assertThat(fixture.clairfs("warm", mount.point(), "--job", "train").succeeded())
                .startsWith("warm: 120 samples, 11.4 MiB, the whole dataset; took ");
    }

    @Tag("exhaustive")
    @Test
    void two_at_once_both_end_well() throws Exception {
        LiveMount mount = fixture.mount(source(), "--memory", "64MiB", "--find-seed", "off");
        mount.awaitReady();
        String point = mount.point().toString();
        Process first = fixture.start("warm", Clairfs.command("warm", point));
        Process second = fixture.start("other-warm", Clairfs.command("warm", point));
        assertThat(first.waitFor()).isZero();
        assertThat(second.waitFor()).isZero();
        assertThat(mount.status().path("jobs")).isEmpty();
        assertThat(fixture.clairfs("warm", mount.point(), "--check").succeeded())
                .contains("120 of 120 samples of the dataset are here");
    }

    @Test
    void ended_early_it_leaves_no_job() throws Exception {
        Path source = source();
        LiveMount mount = fixture.mount(source, "--memory", "64MiB");
        mount.awaitReady();
        Files.delete(source.resolve("a").resolve(firstOf(source.resolve("a"))));
        Process warm =
                fixture.start("warm", Clairfs.command("warm", mount.point().toString()));
        mount.await(
                "all but the file that is gone came",
                now -> now.at("/tiers/0/samples").asInt() == SAMPLES - 1);
        assertThat(warm.isAlive()).isTrue();
        warm.destroy();
        warm.waitFor();
        mount.await("the job ended", now -> now.path("jobs").isEmpty());
    }

    private static Path firstOf(Path directory) throws IOException {
        try (var all = Files.list(directory)) {
            return all.map(Path::getFileName).sorted().findFirst().orElseThrow();
        }
    }
}
