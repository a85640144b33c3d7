package io.clairfs.tools.mount;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A wall clock that jumps, for the processes of one fixture.
 *
 * <p>A small preloaded library adds the offset in a file to the time of day. Monotonic clocks and the kernel's own waits are unchanged, as
 * when a machine's date is set.
 */
record ShiftedClock(Path file, Path library) {
    private static final String SOURCE = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <fcntl.h>
            #include <stdint.h>
            #include <stdlib.h>
            #include <sys/mman.h>
            #include <sys/time.h>
            #include <time.h>
            #include <unistd.h>

            static const volatile int64_t *seconds;
            static int (*real)(clockid_t, struct timespec *);

            __attribute__((constructor)) static void start(void) {
                real = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
                const char *name = getenv("CLAIRFS_TEST_CLOCK");
                int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
                if (fd >= 0) {
                    void *at = mmap(0, sizeof *seconds, PROT_READ, MAP_SHARED, fd, 0);
                    seconds = at == MAP_FAILED ? 0 : at;
                    close(fd);
                }
            }

            int clock_gettime(clockid_t clock, struct timespec *out) {
                if (!real) {
                    start();
                }
                int rc = real(clock, out);
                if (rc == 0 && seconds && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
                    out->tv_sec += *seconds;
                }
                return rc;
            }

            int gettimeofday(struct timeval *out, void *zone) {
                (void) zone;
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                out->tv_sec = now.tv_sec;
                out->tv_usec = now.tv_nsec / 1000;
                return 0;
            }

            time_t time(time_t *out) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                if (out) {
                    *out = now.tv_sec;
                }
                return now.tv_sec;
            }
            """;

    /** Gives this clock to the processes that the fixture starts from now on. Without a compiler the test is skipped. */
    static ShiftedClock of(MountFixture fixture) throws IOException, InterruptedException {
        if (!Requirements.works("gcc", "--version")) {
            System.out.println("skipped: gcc is missing");
            abort("gcc is missing");
        }
        Path directory = fixture.newDirectory("clock");
        Path code = java.nio.file.Files.writeString(directory.resolve("clock.c"), SOURCE);
        Path library = directory.resolve("clock.so");
        List<String> compile =
                List.of("gcc", "-O1", "-shared", "-fPIC", "-o", library.toString(), code.toString(), "-ldl");
        Ended.run(compile, Map.of()).succeeded();
        ShiftedClock clock = new ShiftedClock(directory.resolve("seconds"), library);
        clock.shift(Duration.ZERO);
        fixture.environment("LD_PRELOAD", library.toString());
        fixture.environment("CLAIRFS_TEST_CLOCK", clock.file.toString());
        return clock;
    }

    /** Sets the offset of the clock from the right time. */
    void shift(Duration by) throws IOException {
        ByteBuffer seconds = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(by.toSeconds())
                .flip();
        try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
            out.getChannel().write(seconds, 0);
        }
    }
}
