package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The faults of the tests really happen: a disk fills, a clock jumps, a control group has a limit, a killed process leaves files. */
@Timeout(600)
final class FaultToolsTest {
    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    @Test
    void smallDisk_fillsAndIsReadOnlyForAWhile() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(fixture, 1 << 20)) {
            disk.fillUpTo(8 << 10);
            assertThat(disk.path().toFile().getUsableSpace()).isBetween(1L, 8L << 10);
            assertThat(write(disk.path().resolve("a"), 100_000)).contains("No space left");
            disk.empty();
            assertThat(disk.tryReadOnly()).isTrue();
            assertThat(write(disk.path().resolve("b"), 1)).contains("Read-only");
            disk.writable();
            assertThat(write(disk.path().resolve("c"), 1)).isEmpty();
        }
    }

    private static String write(Path file, int bytes) {
        try {
            Files.write(file, new byte[bytes]);
            return "";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void shiftedClock_jumpsInBothDirectionsAndWaitsStayWaits() throws Exception {
        ShiftedClock clock = ShiftedClock.of(fixture);
        for (Duration by : List.of(Duration.ofDays(1), Duration.ofDays(-400), Duration.ZERO)) {
            clock.shift(by);
            long begun = System.nanoTime();
            String seen = Ended.run(
                            fixture.pythonCommand("import time; t = time.monotonic(); time.sleep(0.3);"
                                    + " print(int(time.time()), time.monotonic() - t > 0.2)"),
                            fixture.environment())
                    .succeeded();
            assertThat(System.nanoTime() - begun).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(200));
            assertThat(seen.strip()).endsWith("True");
            long shifted = Long.parseLong(seen.substring(0, seen.indexOf(' '))) - System.currentTimeMillis() / 1000;
            assertThat(shifted).isBetween(by.toSeconds() - 600, by.toSeconds() + 600);
        }
    }

    @Test
    void pythonThatIsKilled_leavesItsFilesInTheDirectoryOfTheTest() throws Exception {
        Ended killed = Ended.run(fixture.pythonCommand("""
                        import multiprocessing.connection, os, signal
                        listener = multiprocessing.connection.Listener(family="AF_UNIX")  # its path is not too long
                        print(listener.address, flush=True)
                        os.kill(os.getpid(), signal.SIGKILL)
                        """), Map.of());
        assertThat(killed.exit()).isNotZero();
        assertThat(killed.out()).startsWith(fixture.directory() + "/");
    }

    @Test
    void memoryGroup_holdsAProcessToItsLimit() throws Exception {
        try (MemoryGroup group = MemoryGroup.create()) {
            group.limit(64L << 20);
            Ended taker = Ended.run(
                    group.inside(fixture.pythonCommand("b = bytearray(200 << 20); print(len(b))")),
                    fixture.environment());
            assertThat(taker.exit()).isNotZero();
            assertThat(group.killed()).isEqualTo(1);
            assertThat(group.usedBytes()).isLessThanOrEqualTo(64L << 20);
        }
    }
}
