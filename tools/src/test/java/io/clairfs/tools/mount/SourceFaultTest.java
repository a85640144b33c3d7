package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.faulty.Fault;
import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.faulty.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A failing source costs readers only the data that it does not deliver. Each test has one kind of failure. */
@Timeout(600)
class SourceFaultTest {
    private static final int FILES = 60;
    private static final int BYTES = 200_003;

    /** So long that a machine that stands still for some seconds does not end the reads that have to succeed. */
    private static final int READ_TIMEOUT_S = 20;

    /** Longer than any read takes on a slow machine. */
    private static final int PATIENT_S = 120;

    /** A reader that waits longer than this hangs, even on a slow machine. */
    private static final long HANG_S = 120;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path dataset;
    private static FaultyMount source;
    private static LiveMount mount;

    /** Another mount of the source, for the tests in which a reader waits for the read timeout. */
    private static LiveMount impatient;

    private static int used;

    @BeforeAll
    static void mountFaultySource() throws IOException, InterruptedException {
        dataset = FIXTURE.newDirectory("dataset");
        Images.make(dataset.resolve("c"), FILES, BYTES);
        for (String other : List.of("f/x", "g/x")) {
            Files.createDirectories(dataset.resolve(other));
            for (int i = 0; i < FILES; i++) {
                Files.copy(dataset.resolve("c/" + i + ".jpg"), dataset.resolve(other + "/" + i + ".jpg"));
            }
        }
        source = FaultyMount.mount(dataset, FIXTURE.newDirectory("faulty"), FaultyMount.FAST);
        mount = FIXTURE.mount(source.point(), "--read-timeout", String.valueOf(PATIENT_S));
        impatient = FIXTURE.mount(source.point(), "--read-timeout", String.valueOf(READ_TIMEOUT_S));
        mount.awaitReady();
        impatient.awaitReady();
    }

    @AfterEach
    void lift() {
        source.liftAll();
    }

    @AfterAll
    static void unmount() throws IOException, InterruptedException {
        if (mount != null) {
            FIXTURE.clairfs("umount", mount.point()).succeeded();
        }
        if (impatient != null) {
            FIXTURE.clairfs("umount", impatient.point()).succeeded();
        }
        if (source != null) {
            source.close();
        }
    }

    /** A file that has not been read yet. */
    private static String newFile() {
        return "c/" + used++ + ".jpg";
    }

    /** Reads a file of the mount. Returns {@code right}, or the error's name. */
    private static String read(String file) throws IOException, InterruptedException {
        return read(mount, file);
    }

    private static String read(LiveMount through, String file) throws IOException, InterruptedException {
        return FIXTURE.python("""
                        import errno, sys
                        try:
                            got = open(sys.argv[1], 'rb').read()
                            print('right' if got == open(sys.argv[2], 'rb').read() else 'wrong')
                        except OSError as e:
                            print(errno.errorcode[e.errno])
                        """, through.point().resolve(file), dataset.resolve(file))
                .strip();
    }

    // Promise E1, E2
    @ParameterizedTest
    @CsvSource({
        "EIO, OPEN",
        "EIO, READ",
        "EACCES, OPEN",
        "ENOENT, OPEN",
        "ETIMEDOUT, READ",
        "EAGAIN, OPEN",
    })
    void failure_is_the_readers_with_a_line_in_errors_and_over_when_the_source_is_well(FaultKind kind, Request request)
            throws Exception {
        String file = newFile();
        Fault fault = source.inject(FaultSpec.of(kind).on(request).at(file));
        assertThat(read(file)).isEqualTo(kind == FaultKind.EAGAIN ? "EIO" : kind.name());
        assertThat(fault.struck()).isPositive();
        assertThat(mount.lines("errors")).anyMatch(line -> line.contains("read /" + file + ": " + file + ": "));
        assertThat(read(newFile())).isEqualTo("right");
        fault.lift();
        assertThat(read(file)).isEqualTo("right");
    }

    // Promise W1
    @Test
    void source_that_hangs_is_an_error_within_the_read_timeout_and_no_hindrance_when_it_is_back() throws Exception {
        String file = newFile();
        Fault fault = source.inject(FaultSpec.of(FaultKind.HANG).at(file));
        long start = System.nanoTime();
        assertThat(read(impatient, file)).isEqualTo("EIO");
        long waitedS = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        assertThat(waitedS).isBetween((long) READ_TIMEOUT_S - 1, HANG_S);
        assertThat(impatient.lines("errors"))
                .anyMatch(line -> line.endsWith("read /" + file + ": " + file + ": the source did not answer within "
                        + READ_TIMEOUT_S + "000 ms"));
        assertThat(read(impatient, newFile())).isEqualTo("right");
        fault.lift();
        assertThat(read(impatient, file)).isEqualTo("right");
    }

    // Promise W2
    @ParameterizedTest
    @EnumSource(names = {"OPEN", "READ"})
    void request_that_is_lost_for_good_costs_the_file_one_read_timeout(Request request) throws Exception {
        String file = newFile();
        source.inject(FaultSpec.of(FaultKind.HANG).on(request).at(file).times(1).lasting(Duration.ofMinutes(2)));
        long start = System.nanoTime();
        String came = read(impatient, file);
        while (!came.equals("right")) {
            assertThat(came).isEqualTo("EIO");
            assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start))
                    .isLessThan(HANG_S);
            came = read(impatient, file);
        }
    }

    // Promise R2
    @Test
    void short_reads_of_the_source_are_nobodys_matter() throws Exception {
        Fault fault = source.inject(FaultSpec.of(FaultKind.SHORT_READ));
        assertThat(read(newFile())).isEqualTo("right");
        assertThat(fault.struck()).isGreaterThan(2);
    }

    // Promise W1
    @Test
    void source_that_is_slow_is_waited_for() throws Exception {
        Fault fault = source.inject(FaultSpec.of(FaultKind.DELAY).lasting(Duration.ofMillis(300)));
        assertThat(read(newFile())).isEqualTo("right");
        assertThat(fault.struck()).isPositive();
    }

    // Promise C1
    @ParameterizedTest
    @CsvSource({"replace", "resize", "grow", "truncate", "cut", "cut to nothing"})
    void file_that_is_another_than_was_listed_is_stale(String how) throws Exception {
        String file = newFile();
        switch (how) {
            case "replace" -> source.files().replace(file, 7);
            case "resize" -> source.files().replace(file, 7, BYTES / 2);
            case "grow" -> source.files().replace(file, 7, BYTES * 2);
            case "truncate" -> source.files().truncate(file, BYTES / 2);
            case "cut" -> source.files().cut(file, BYTES / 2);
            case "cut to nothing" -> source.files().cut(file, 0);
            default -> throw new AssertionError(how);
        }
        assertThat(read(file)).isEqualTo("ESTALE");
        assertThat(mount.lines("errors"))
                .anyMatch(line -> line.contains("read /" + file + ": " + file + " changed in the source"));
        assertThat(Files.size(mount.point().resolve(file))).isEqualTo(BYTES);
    }

    // Promise C1
    @Test
    void file_that_changes_while_it_is_read_is_stale() throws Exception {
        String file = newFile();
        Fault fault = source.inject(
                FaultSpec.of(FaultKind.HANG).on(Request.READ).at(file).times(1).lasting(Duration.ofMinutes(2)));
        Process reader =
                FIXTURE.start("reader", FIXTURE.pythonCommand("""
                        import errno, sys
                        try:
                            print(len(open(sys.argv[1], 'rb').read()))
                        except OSError as e:
                            print(errno.errorcode[e.errno])
                        """, mount.point().resolve(file)));
        Waiting.until("the source holds the request", () -> fault.struck() == 1);
        source.files().replace(file, 8);
        fault.lift();
        assertThat(reader.waitFor(HANG_S, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readString(FIXTURE.said("reader"))).isEqualTo("ESTALE\n");
    }

    // Promise C3
    @Test
    void what_is_cached_of_the_listed_version_is_read_on_whatever_became_of_the_file() throws Exception {
        String file = newFile();
        assertThat(read(file)).isEqualTo("right");
        source.files().replace(file, 9);
        assertThat(read(file)).isEqualTo("right");
        source.files().truncate(file, 1);
        assertThat(read(file)).isEqualTo("right");
    }

    // Promise C1
    @Test
    void file_that_is_replaced_in_the_middle_of_an_epoch_is_stale_and_the_rest_of_the_epoch_is_right()
            throws Exception {
        Fault notYetStaged =
                source.inject(FaultSpec.of(FaultKind.EIO).on(Request.OPEN).at("g"));
        mount.job("name=mid seed=4 epochs=1 subset=g");
        List<String> names;
        try (Stream<Path> files = Files.list(dataset.resolve("g/x"))) {
            names = files.map(f -> "g/x/" + f.getFileName()).sorted().toList();
        }
        List<String> order = mount.order("mid", 0, 0).stream()
                .map(i -> names.get(Integer.parseInt(i)))
                .toList();
        String replaced = order.getLast();
        Waiting.until("a loader has failed", () -> notYetStaged.struck() > 0);
        source.files().replace(replaced, 10);
        notYetStaged.lift();
        for (String file : order.subList(0, 10)) {
            assertThat(read(file)).isEqualTo("right");
        }
        assertThat(read(replaced)).isEqualTo("ESTALE");
        mount.job("stop=mid");
    }

    // Promise R6
    @Test
    void job_over_a_flaky_source_loses_no_sample_and_no_byte() throws Exception {
        Fault fault = source.inject(
                FaultSpec.of(FaultKind.EIO).on(Request.READ).at("f").chance(0.2, 5));
        mount.job("name=flaky seed=3 epochs=1 subset=f");
        int failed =
                Integer.parseInt(FIXTURE.python("""
                        import os, sys
                        mount, source = sys.argv[1:]
                        lines = lambda f: open(f'{mount}/.clairfs/{f}').read().split('\\n')[:-1]
                        index = sorted(os.listdir(source + '/f/x'))
                        failed = 0
                        for i in lines('order/flaky/0/0'):
                            name = 'f/x/' + index[int(i)]
                            expected = open(f'{source}/{name}', 'rb').read()
                            for attempt in range(100):
                                try:
                                    assert open(f'{mount}/{name}', 'rb').read() == expected, name
                                    break
                                except OSError as e:
                                    failed += 1
                            else:
                                raise Exception('never read: ' + name)
                        print(failed)
                        """, mount.point(), dataset).strip());
        System.out.println("flaky source: " + fault.struck() + " failures, " + failed + " seen by the reader");
        mount.job("stop=flaky");
    }
}
