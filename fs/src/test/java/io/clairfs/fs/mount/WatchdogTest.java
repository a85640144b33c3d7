package io.clairfs.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a watchdog ends; that it ends connections is tested on real mounts. */
@Timeout(120)
final class WatchdogTest {
    private static final int GENEROUS_S = 60;
    private static final int SIGTERM = 15;
    private static final String NO_DEVICE = "0:99999999";

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    private Process watchdogOf(long pid) throws IOException {
        Process process = started(new ProcessBuilder("/bin/sh", "-s", "--", Long.toString(pid), NO_DEVICE, "/nowhere"));
        try (InputStream script = Watchdog.class.getResourceAsStream("watchdog.sh");
                OutputStream in = process.getOutputStream()) {
            script.transferTo(in);
        }
        return process;
    }

    private Process started(ProcessBuilder builder) throws IOException {
        Process process = builder.redirectError(Redirect.DISCARD).start();
        started.add(process);
        return process;
    }

    /** Waits until the kernel knows that a process ignores a signal: a shell that has just begun does not yet. */
    private static void awaitDeafTo(int signal, Process process) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(GENEROUS_S);
        while (!ignores(signal, process)) {
            assertThat(System.nanoTime()).as("it never ignores the signal").isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private static boolean ignores(int signal, Process process) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) >> (signal - 1) & 1) == 1);
    }

    @Test
    void processThatLives_isWatched_andNoLonger() throws Exception {
        Process watched = started(new ProcessBuilder("sleep", "600"));
        Process watchdog = watchdogOf(watched.pid());
        assertThat(watchdog.waitFor(3, TimeUnit.SECONDS)).isFalse();
        watched.destroyForcibly();
        assertThat(watchdog.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void processThatHasEnded_andIsNobodysCare_isLetGo() throws Exception {
        Process parent = started(new ProcessBuilder("/bin/sh", "-c", "sleep 0.1 & echo $!; exec sleep 600"));
        long child = Long.parseLong(parent.inputReader().readLine());
        assertThat(watchdogOf(child).waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
        assertThat(parent.isAlive()).isTrue();
    }

    @Test
    void signalsThatEndTheTerminal_doNotEndIt() throws Exception {
        Process watched = started(new ProcessBuilder("sleep", "600"));
        Process watchdog = watchdogOf(watched.pid());
        awaitDeafTo(SIGTERM, watchdog);
        watchdog.destroy();
        assertThat(watchdog.waitFor(3, TimeUnit.SECONDS)).isFalse();
    }
}
