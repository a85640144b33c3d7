package io.clairfs.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
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
        assertThat(watchdog.waitFor(1, TimeUnit.SECONDS)).isFalse();
        watchdog.destroy();
        assertThat(watchdog.waitFor(3, TimeUnit.SECONDS)).isFalse();
    }
}
