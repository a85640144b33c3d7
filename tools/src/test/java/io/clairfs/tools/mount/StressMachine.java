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

/** What the daemons of a random test have of their machine: its clock, memory, sizes of files, programs. What it does not allow is left out and reported. */
final class StressMachine implements AutoCloseable {
    /** How far clocks jump, at most: a day. */
    private static final long FAR_S = 86_400;

    private static final int LONGEST_SQUEEZE_MS = 400;

    /** Of the pages, to be taken back. */
    private static final int SMALLEST_SHARE = 16;

    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");

    private final MountFixture fixture;
    private final StressDeck<Shortage> shortages;
    private final @Nullable ShiftedClock clock;
    private final @Nullable MemoryGroup memory;
    private final boolean limitsFiles;
    private final Path programs;

    /** Something that a machine may not allow. */
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

    /** A daemon was started: from now on what it takes counts for the group whose memory is squeezed. */
    void adopt(long pid) throws IOException {
        if (memory != null) {
            memory.take(pid);
        }
    }

    /** Sets the daemons' wall clock, or sets it right. Returns whether that is possible here. */
    boolean shiftClock(Random random) throws IOException {
        Duration by = Duration.ofSeconds(random.nextLong(-FAR_S, FAR_S));
        boolean wrong = random.nextBoolean();
        if (clock != null) {
            clock.shift(wrong ? by : Duration.ZERO);
        }
        return clock != null;
    }

    /** Lets the kernel forget all pages that it can, so that reads come to the daemons again; where that is not allowed they come a little later. */
    void dropPages() throws IOException {
        if (Files.isWritable(DROP_CACHES)) {
            Files.writeString(DROP_CACHES, "1");
        }
    }

    /** Takes some of the pages back that the daemons brought in, and lets them have no more for a moment. Returns whether it did. */
    boolean squeeze(Random random, Meanwhile meanwhile) throws Exception {
        int millis = random.nextInt(LONGEST_SQUEEZE_MS);
        if (memory == null) {
            return false;
        }
        int share = 2;
        while (!memory.squeeze(memory.usedBytes() - memory.pageCacheBytes() / share)) {
            share *= 2; // what the kernel cannot take back it does not tell beforehand
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

    /** From this size on the daemon cannot write to any file: EFBIG. Returns whether that is possible here. */
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

    /** What the kernel may have too little of for the reports of closed files, and how little. */
    private record Shortage(String setting, int value) {}

    private static final List<Shortage> SHORTAGES = List.of(
            new Shortage(KernelSetting.WATCHES, 2),
            new Shortage(KernelSetting.INSTANCES, 0),
            new Shortage(KernelSetting.QUEUE, 8),
            new Shortage(KernelSetting.WATCHES, 3),
            new Shortage(KernelSetting.INSTANCES, 1),
            new Shortage(KernelSetting.QUEUE, 64));

    /** Lets something happen in want of inotify's watches, of its queues, or of room in them. */
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

    /** Tries to mount where no fusermount is on the PATH, and requires one line of refusal, and that nothing has become of it. */
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

    /** Daemons of it that still run go on without. */
    @Override
    public void close() throws IOException {
        if (memory != null) {
            memory.close();
        }
    }
}
