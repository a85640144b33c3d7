package io.clairfs.tools.bench.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** What a process has taken of the processors. */
final class ProcessTime {
    private static final int USER = 11;
    private static final int SYSTEM = 12;

    /** The unit of the kernel's figures, on every machine that Linux runs on. */
    private static final long TICKS_PER_SECOND = 100;

    private ProcessTime() {}

    /** User and system time since the process began, of all its threads. */
    static Duration of(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1); // its name may have spaces
        long ticks = Long.parseLong(fields[USER]) + Long.parseLong(fields[SYSTEM]);
        return Duration.ofMillis(ticks * 1000 / TICKS_PER_SECOND);
    }
}
