package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import io.clairfs.fs.faulty.Fault;
import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.faulty.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kernel requests a page twice if its read-ahead failed. The reader waits once. */
@Timeout(600)
final class ReadTimeoutTest {
    /** So long that a busy machine does not make two of one. */
    private static final int TIMEOUT_S = 20;

    private static final int BYTES = 300_000;

    /** Reads once in the given way, and prints the error and the duration. */
    private static final String READ = """
            import mmap, os, sys, time
            path, way = sys.argv[1:]
            fd = os.open(path, os.O_RDONLY | (os.O_DIRECT if way == 'direct' else 0))
            start = time.monotonic()
            try:
                if way == 'read':
                    os.pread(fd, 200_000, 100)
                elif way == 'direct':
                    os.preadv(fd, [mmap.mmap(-1, 200_704)], 0)
                else:
                    os.write(os.memfd_create('copy'), memoryview(mmap.mmap(fd, 0, prot=mmap.PROT_READ))[100:200_000])
                print('nothing failed')
            except OSError as e:
                print(e.errno, time.monotonic() - start)
            """;

    /** Several threads read the same page at the same time. Prints the errors and the longest duration. */
    private static final String READ_TOGETHER = """
            import os, sys, threading, time
            fd = os.open(sys.argv[1], os.O_RDONLY)
            said = []
            def read():
                start = time.monotonic()
                try:
                    os.pread(fd, 1000, 0)
                    said.append((0, 0))
                except OSError as e:
                    said.append((e.errno, time.monotonic() - start))
            threads = [threading.Thread(target=read) for _ in range(5)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(','.join(sorted({str(errno) for errno, _ in said})), max(seconds for _, seconds in said))
            """;

    private static final String EIO = "5";
    private static final String EFAULT = "14";

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private FaultyMount source() throws IOException {
        Path dataset = fixture.newDirectory("dataset");
        Files.write(dataset.resolve("a.bin"), new byte[BYTES]);
        return FaultyMount.mount(dataset, fixture.newDirectory("source"), FaultyMount.FAST);
    }

    private LiveMount mount(FaultyMount source) throws IOException, InterruptedException {
        LiveMount mount =
                fixture.mount(source.point(), "--index-rule", "sorted", "--read-timeout", Integer.toString(TIMEOUT_S));
        mount.awaitReady();
        return mount;
    }

    // Promise W1
    @ParameterizedTest
    @Execution(CONCURRENT)
    @ValueSource(strings = "read")
    void read_of_a_source_that_hangs_waits_for_one_read_timeout(String way) throws Exception {
        try (FaultyMount source = source()) {
            LiveMount mount = mount(source);
            Fault fault = source.inject(
                    FaultSpec.of(FaultKind.HANG).on(Request.READ).lasting(Duration.ofSeconds(5L * TIMEOUT_S)));
            String[] said = fixture.python(READ, mount.point().resolve("a.bin"), way)
                    .strip()
                    .split(" ", 2);
            assertThat(said[0]).isEqualTo(way.equals("mmap") ? EFAULT : EIO);
            assertThat(Double.parseDouble(said[1])).isBetween(0.9 * TIMEOUT_S, 1.9 * TIMEOUT_S);
            assertThat(fault.struck()).isPositive();

            source.liftAll();
            Files.copy(mount.point().resolve("a.bin"), fixture.directory().resolve("copy"));
            assertThat(fixture.directory().resolve("copy")).hasBinaryContent(new byte[BYTES]);
        }
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @Execution(CONCURRENT)
    @ValueSource(strings = {"mmap", "direct"})
    void other_reads_of_a_source_that_hangs_wait_for_one_read_timeout(String way) throws Exception {
        read_of_a_source_that_hangs_waits_for_one_read_timeout(way);
    }

    // Promise W1
    @Test
    @Execution(CONCURRENT)
    void readers_of_one_page_of_a_source_that_hangs_wait_for_little_more_than_one_read_timeout() throws Exception {
        try (FaultyMount source = source()) {
            LiveMount mount = mount(source);
            source.inject(FaultSpec.of(FaultKind.HANG).on(Request.READ).lasting(Duration.ofSeconds(5L * TIMEOUT_S)));
            String[] said = fixture.python(READ_TOGETHER, mount.point().resolve("a.bin"))
                    .strip()
                    .split(" ", 2);
            assertThat(said[0]).isEqualTo(EIO);
            assertThat(Double.parseDouble(said[1])).isBetween(0.9 * TIMEOUT_S, 1.9 * TIMEOUT_S);
            source.liftAll();
        }
    }
}
