package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import io.clairfs.fs.faulty.Fault;
import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.faulty.FileContent;
import io.clairfs.fs.faulty.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A directory that cannot be listed is an error, not an absence, and recovers by itself. */
@Timeout(600)
class ListingFaultTest {
    private static final int CLASSES = 3;
    private static final int EACH = 20;
    private static final int BYTES = 50_000;

    /** Longer than a test needs. */
    private static final Duration UNTIL_LIFTED = Duration.ofMinutes(2);

    private static final String ATTEMPT = """
            import errno, os, sys
            for path in sys.argv[1:]:
                try:
                    print(len(os.listdir(path)) if os.path.basename(path).startswith('c') else os.stat(path).st_size)
                except OSError as e:
                    print(errno.errorcode[e.errno])
            """;

    @RegisterExtension
    final MountFixture fixture = new MountFixture();

    private FaultyMount source;
    private Path point;

    @BeforeEach
    void makeSource() throws IOException {
        Path dataset = fixture.newDirectory("dataset");
        for (int c = 0; c < CLASSES; c++) {
            Images.make(dataset.resolve("c" + c), EACH, BYTES);
        }
        source = FaultyMount.mount(dataset, fixture.newDirectory("faulty"), FaultyMount.FAST);
        point = fixture.newDirectory("point");
    }

    @AfterEach
    void unmount() throws IOException, InterruptedException {
        source.liftAll();
        Ended _ = fixture.clairfs("umount", point);
        source.close();
    }

    private String attempt() throws IOException, InterruptedException {
        return fixture.python(
                ATTEMPT,
                point.resolve("c0"),
                point.resolve("c1"),
                point.resolve("c1/3.jpg"),
                point.resolve("c2/3.jpg"));
    }

    // Promise E4, J5
    @ParameterizedTest
    @Execution(CONCURRENT)
    @EnumSource(names = "LIST")
    void directory_that_fails_is_an_error_to_readers_and_to_jobs_until_it_is_listed_after_all(Request request)
            throws Exception {
        Fault fault =
                source.inject(FaultSpec.of(FaultKind.EIO).on(request).at(request == Request.LIST ? "c1" : "c1/7.jpg"));
        LiveMount mount = fixture.mountAt(point, source.point());
        String why = request == Request.LIST
                ? "cannot list directory c1: Input/output error"
                : "cannot list directory c1 (c1/7.jpg: Input/output error)";
        String error = "the dataset could not be listed in full: " + why + "; it is tried again";
        mount.await("the failure is known", s -> s.path("index_error").isString());
        Waiting.until( // the others come behind it
                "its line is there", () -> mount.lines("errors").stream().anyMatch(line -> line.endsWith(why)));
        assertThat(mount.status().path("index_error").asString()).startsWith(why);
        assertThat(mount.read("status")).contains(why);
        assertThat(mount.status().path("ready").asBoolean()).isFalse();
        assertThat(attempt()).isEqualTo("20\nEIO\nEIO\n50000\n");
        assertThat(fixture.clairfs("job", "start", point, "seed=1").complainedWith(1))
                .endsWith(error);
        assertThat(mount.read("job")).isEmpty();
        assertThat(indexError(mount)).isEqualTo("EIO\n");
        assertThat(mount.lines("errors").getLast()).endsWith("index: " + error);

        fault.lift();
        mount.awaitReady();
        assertThat(mount.status().path("index_error").isNull()).isTrue();
        assertThat(attempt()).isEqualTo("20\n20\n50000\n50000\n");
        mount.job("seed=1 epochs=1");
        assertThat(mount.lines("index")).hasSize(CLASSES * EACH);
        assertThat(mount.lines("errors")).anyMatch(line -> line.endsWith("listed after all: directory c1"));
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @Execution(CONCURRENT)
    @EnumSource(names = "STATUS")
    void entry_that_fails_is_an_error_of_its_directory(Request request) throws Exception {
        directory_that_fails_is_an_error_to_readers_and_to_jobs_until_it_is_listed_after_all(request);
    }

    /** Whether a directory is listed. Whoever looks earlier than that may get an error, at the read timeout. */
    private boolean isListed(String directory) {
        String[] names = point.resolve(directory).toFile().list();
        return names != null && names.length == EACH;
    }

    private String indexError(LiveMount mount) throws Exception {
        String open =
                "import errno, sys\ntry:\n open(sys.argv[1])\nexcept OSError as e:\n print(errno.errorcode[e.errno])";
        return fixture.python(open, mount.control("index"));
    }

    // Promise C5
    @Test
    @Execution(CONCURRENT)
    void file_of_a_view_that_changes_before_its_header_is_read_costs_no_kept_listing() throws Exception {
        Path cache = fixture.newDirectory("cache");
        Fault hang = source.inject(
                FaultSpec.of(FaultKind.HANG).on(Request.OPEN).at("c1/3.jpg").lasting(UNTIL_LIFTED));
        LiveMount mount = fixture.mountAt(point, source.point(), "--view", "decode", "--index-cache", cache.toString());
        Waiting.until("its header is asked for", () -> hang.struck() > 0);
        FileContent _ = source.files().replace("c1/3.jpg", /* seed */ 7);
        hang.lift();
        mount.awaitReady();
        Waiting.until("the listing is kept", () -> {
            try (var files = Files.list(cache)) {
                return files.anyMatch(file -> file.toString().endsWith(".index"));
            }
        });
        assertThat(mount.status().at("/view/headers_read").asInt())
                .as("that of one file was read twice")
                .isEqualTo(CLASSES * EACH + 1);
        assertThat(mount.lines("errors")).noneMatch(line -> line.contains("index"));
    }

    // Promise W3, J5
    @Test
    @Execution(CONCURRENT)
    void listing_that_hangs_is_an_error_within_the_read_timeout_and_jobs_wait_for_it() throws Exception {
        Fault fault = source.inject(
                FaultSpec.of(FaultKind.HANG).on(Request.LIST).at("c1").lasting(UNTIL_LIFTED));
        LiveMount mount = fixture.mountAt(point, source.point(), "--read-timeout", "2");
        Waiting.until("all else is listed", () -> isListed("c0") && isListed("c2"));
        assertThat(attempt()).isEqualTo("20\nEIO\nEIO\n50000\n");
        mount.job("seed=1 epochs=1");
        assertThat(mount.lines("job")).hasSize(1);
        assertThat(mount.status().path("jobs")).isEmpty();
        assertThat(indexError(mount)).isEqualTo("EAGAIN\n");
        fault.lift();
        mount.await("started", s -> s.path("jobs").size() == 1);
        assertThat(attempt()).isEqualTo("20\n20\n50000\n50000\n");
        assertThat(mount.lines("index")).hasSize(CLASSES * EACH);
    }

    @Test
    @Execution(CONCURRENT)
    void readiness_is_an_exit_code_and_one_line_says_what_is_missing() throws Exception {
        assertThat(fixture.clairfs("status", "--ready", point).complainedWith(1))
                .contains("is not on a clairfs mount");
        Fault hang = source.inject(
                FaultSpec.of(FaultKind.HANG).on(Request.LIST).at("c1").lasting(UNTIL_LIFTED));
        LiveMount mount = fixture.mountAt(point, source.point());
        assertThat(fixture.clairfs("status", "--ready", point).complainedWith(1))
                .contains(point + " is not ready: still listing, ");
        hang.lift();
        mount.awaitReady();
        fixture.clairfs("umount", point).succeeded();

        source.inject(FaultSpec.of(FaultKind.EIO).on(Request.LIST).at("c2"));
        mount = fixture.mountAt(point, source.point());
        mount.await("the failure is known", s -> s.path("index_error").isString());
        assertThat(fixture.clairfs("status", "--ready", point).complainedWith(1))
                .contains(point + " is not ready: cannot list directory c2: Input/output error");

        source.liftAll();
        mount.awaitReady();
        Ended ready = fixture.clairfs("status", "--ready", point);
        assertThat(ready.succeeded()).isEmpty();
        assertThat(ready.err()).isEmpty();
        assertThat(fixture.clairfs("status", "--ready", "--json", point).complainedWith(2))
                .contains("--ready stands alone");
    }

    /** All lines of a write share one wait for the listing. Separate waits would exceed this test's timeout. */
    @Test
    @Execution(CONCURRENT)
    void many_jobs_written_at_once_while_a_listing_hangs_all_wait_for_it() throws Exception {
        Fault fault = source.inject(
                FaultSpec.of(FaultKind.HANG).on(Request.LIST).at("c1").lasting(UNTIL_LIFTED));
        LiveMount mount = fixture.mountAt(point, source.point());
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            lines.append("name=j").append(i).append(" seed=1 epochs=1\n");
        }
        mount.job(lines.toString());
        assertThat(mount.lines("job")).hasSize(60);
        fault.lift();
        mount.await("started", s -> s.path("jobs").size() == 60);
    }

    // Promise T7
    @Test
    @Execution(CONCURRENT)
    void what_an_ssd_keeps_of_a_directory_that_fails_is_found_when_it_is_listed_after_all() throws Exception {
        String ssd = fixture.newDirectory("ssd") + "/cache:64MiB";
        String[] options = {"--ssd", ssd, "--ssd-reserve", "1MiB", "--memory", "1MiB"};
        LiveMount before = fixture.mountAt(point, source.point(), options);
        before.awaitReady();
        before.job("seed=1 epochs=2");
        before.await(
                "kept",
                s -> s.at("/tiers/1/samples").asInt() + s.at("/tiers/0/samples").asInt() >= CLASSES * EACH);
        int kept = before.status().at("/tiers/1/samples").asInt();
        assertThat(kept).isPositive();
        fixture.clairfs("umount", point).succeeded();

        Fault fault = source.inject(FaultSpec.of(FaultKind.EIO).on(Request.LIST));
        LiveMount after = fixture.mountAt(point, source.point(), options);
        after.await("the failure is known", s -> s.path("index_error").isString());
        assertThat(after.status().at("/tiers/1/samples").asInt()).isZero();
        fault.lift();
        after.awaitReady();
        // Samples that were in the write-back queue at the first look have been written since.
        after.await("found again", s -> s.at("/tiers/1/samples").asInt() >= kept);
    }

    // Promise L3
    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void sigterm_while_a_listing_hangs_leaves_nothing_mounted() throws Exception {
        source.inject(FaultSpec.of(FaultKind.HANG).on(Request.LIST).at("c1").lasting(UNTIL_LIFTED));
        LiveMount mount = fixture.mountAt(point, source.point());
        long pid = mount.pid();
        fixture.start("reader", fixture.pythonCommand("import os, sys; os.listdir(sys.argv[1])", point.resolve("c1")));
        Ended.run(List.of("kill", "-TERM", Long.toString(pid)), Map.of()).succeeded();
        Waiting.until("nothing of it is mounted", () -> fixture.mounts().equals(List.of(source.point())));
        source.liftAll();
        Waiting.until("its process is gone", () -> fixture.processes().isEmpty());
    }
}
