package io.clairfs.tools.bench.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** The CPU time of a process. */
final class ProcessTime {
    private static final int USER = 11;
    private static final int SYSTEM = 12;

    /** The unit of the kernel's figures, the same on every Linux machine. */
    private static final long TICKS_PER_SECOND = 100;

    private ProcessTime() {}

    /** User and system time of all threads since the process began. */
    static Duration of(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1); // the name may have spaces
        long ticks = Long.parseLong(fields[USER]) + Long.parseLong(fields[SYSTEM]);
        return Duration.ofMillis(ticks * 1000 / TICKS_PER_SECOND);
    }

    /** The same in nanoseconds, of the threads that live now: for a short while in which no thread ends. */
    static long liveThreadsNs(long pid) throws IOException {
        long sum = 0;
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path thread : threads.toList()) {
                sum += runNs(thread.resolve("schedstat"));
            }
        }
        return sum;
    }

    private static long runNs(Path schedstat) throws IOException {
        try {
            return Long.parseLong(Files.readString(schedstat).split(" ", -1)[0]);
        } catch (NoSuchFileException ended) {
            return 0;
        }
    }
}
