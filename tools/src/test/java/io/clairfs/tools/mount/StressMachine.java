package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * The machine of a random test's daemons: its clock, memory, file size limits, programs. Faults that the machine does not allow are left
 * out and reported.
 */
final class StressMachine implements AutoCloseable {
    /** The longest jump of a clock: a day. */
    private static final long FAR_S = 86_400;

    private static final int LONGEST_SQUEEZE_MS = 400;

    /** The divisor of the smallest share of pages to reclaim. */
    private static final int SMALLEST_SHARE = 16;

    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");

    private final MountFixture fixture;
    private final StressDeck<Shortage> shortages;
    private final @Nullable ShiftedClock clock;
    private final @Nullable MemoryGroup memory;
    private final boolean limitsFiles;
    private final Path programs;

    /** Makes something that a machine may not allow. */
    @FunctionalInterface
    private interface Making<T> {
        T make() throws IOException, InterruptedException;
    }

    StressMachine(MountFixture fixture, StressReport report, Random random) throws IOException, InterruptedException {
        this.fixture = fixture;
        shortages = new StressDeck<>(random, SHORTAGES);
        clock = orNull(report, "clock jump", () -> ShiftedClock.of(fixture));
        memory = orNull(report, "memory squeezed", MemoryGroup::create);
        limitsFiles = Requirements.works("prlimit", "--version");
        if (!limitsFiles) {
            report.impossible("disk refuses writes");
        }
        programs = fixture.newDirectory("programs");
        Files.createSymbolicLink(programs.resolve("setsid"), Path.of("/usr/bin/setsid"));
    }

    private static <T> @Nullable T orNull(StressReport report, String what, Making<T> making)
            throws IOException, InterruptedException {
        try {
            return making.make();
        } catch (TestAbortedException notHere) {
            report.impossible(what);
            return null;
        }
    }

    /** Adds a started daemon to the group whose memory is squeezed. */
    void adopt(long pid) throws IOException {
        if (memory != null) {
            memory.take(pid);
        }
    }

    /** Shifts the daemons' wall clock, or sets it right. Returns whether that is possible here. */
    boolean shiftClock(Random random) throws IOException {
        Duration by = Duration.ofSeconds(random.nextLong(-FAR_S, FAR_S));
        boolean wrong = random.nextBoolean();
        if (clock != null) {
            clock.shift(wrong ? by : Duration.ZERO);
        }
        return clock != null;
    }

    /**
     * Drops all clean pages of the kernel, so that reads reach the daemons again. Without the privilege they reach the daemons a little
     * later.
     */
    void dropPages() throws IOException {
        if (Files.isWritable(DROP_CACHES)) {
            Files.writeString(DROP_CACHES, "1");
        }
    }

    /** Makes the kernel reclaim some of the daemons' pages, and limits the daemons for a moment. Returns whether it did. */
    boolean squeeze(Random random, Meanwhile meanwhile) throws Exception {
        int millis = random.nextInt(LONGEST_SQUEEZE_MS);
        if (memory == null) {
            return false;
        }
        int share = 2;
        while (!memory.squeeze(memory.usedBytes() - memory.pageCacheBytes() / share)) {
            share *= 2; // the kernel does not say beforehand what it cannot reclaim
            if (share > SMALLEST_SHARE) {
                return false;
            }
        }
        try {
            meanwhile.happens();
            TimeUnit.MILLISECONDS.sleep(millis);
        } finally {
            memory.unlimit();
        }
        return true;
    }

    /** Limits the size of the daemon's files: larger writes fail with EFBIG. Returns whether that is possible here. */
    boolean limitFiles(long pid, long bytes) throws IOException, InterruptedException {
        return limitFiles(pid, Long.toString(bytes));
    }

    void unlimitFiles(long pid) throws IOException, InterruptedException {
        boolean _ = limitFiles(pid, "unlimited");
    }

    private boolean limitFiles(long pid, String bytes) throws IOException, InterruptedException {
        if (limitsFiles) {
            Ended.run(List.of("prlimit", "--pid", Long.toString(pid), "--fsize=" + bytes + ":unlimited"), Map.of())
                    .succeeded();
        }
        return limitsFiles;
    }

    /** An inotify setting and a value too small for the reports of closed files. */
    private record Shortage(String setting, int value) {}

    private static final List<Shortage> SHORTAGES = List.of(
            new Shortage(KernelSetting.WATCHES, 2),
            new Shortage(KernelSetting.INSTANCES, 0),
            new Shortage(KernelSetting.QUEUE, 8),
            new Shortage(KernelSetting.WATCHES, 3),
            new Shortage(KernelSetting.INSTANCES, 1),
            new Shortage(KernelSetting.QUEUE, 64));

    /** Runs {@code meanwhile} while inotify's watches, its queues, or the room in them are scarce. */
    void shortOfReports(StressReport report, Meanwhile meanwhile) throws Exception {
        Shortage shortage = shortages.next();
        KernelSetting setting =
                orNull(report, shortage.setting, () -> KernelSetting.set(shortage.setting, shortage.value));
        if (setting == null) {
            meanwhile.happens();
            return;
        }
        try (setting) {
            meanwhile.happens();
            report.fault("too few: " + shortage.setting, 1);
        }
    }

    /** Tries to mount without fusermount on the PATH. Requires one line of refusal, and that no mount or process is left. */
    void requireRefusalWithoutFusermount(List<String> mount) throws IOException, InterruptedException {
        List<Path> mounts = fixture.mounts();
        Set<Long> daemons = daemons();
        List<String> command = new ArrayList<>(List.of("env", "PATH=" + programs));
        command.addAll(Clairfs.command(mount.toArray(String[]::new)));
        assertThat(Ended.run(command, fixture.environment()).complainedWith(1)).contains("fusermount");
        assertThat(fixture.mounts()).as("after a refused mount").isEqualTo(mounts);
        assertThat(daemons()).as("after a refused mount").isEqualTo(daemons);
    }

    private Set<Long> daemons() {
        return fixture.processes().stream().map(ProcessHandle::pid).collect(Collectors.toSet());
    }

    /** Removes the group. Its running daemons go on without it. */
    @Override
    public void close() throws IOException {
        if (memory != null) {
            memory.close();
        }
    }
}
