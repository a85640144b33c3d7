package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** When a watchdog ends, and what it costs until then; that it ends connections is tested on real mounts. */
@Timeout(120)
final class WatchdogTest {
    private static final int GENEROUS_S = 60;
    private static final int SIGTERM = 15;
    private static final String NO_DEVICE = "0:99999999";

    private final List<ProcessHandle> started = new ArrayList<>();

    @TempDir
    private Path directory;

    @AfterEach
    void end() {
        started.forEach(each -> each.descendants().forEach(ProcessHandle::destroyForcibly));
        started.forEach(ProcessHandle::destroyForcibly);
    }

    /** One that looks once a second. */
    private Process watchdogOf(long pid) throws IOException {
        Process process =
                started(new ProcessBuilder("/bin/sh", "-s", "--", "look", Long.toString(pid), NO_DEVICE, "/nowhere"));
        try (OutputStream in = process.getOutputStream()) {
            script(in);
        }
        return process;
    }

    private static void script(OutputStream in) throws IOException {
        in.write(Watchdog.script().getBytes(UTF_8));
        in.flush();
    }

    private Process started(ProcessBuilder builder) throws IOException {
        Process process = builder.redirectError(Redirect.DISCARD).start();
        started.add(process.toHandle());
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

    /**
     * A process with a watchdog that is told of its end. The pipe that both read from stays open, so that nothing but the kernel's signal tells.
     */
    private record Watched(Process process, ProcessHandle watchdog) {
        void kill() {
            process.destroyForcibly();
        }
    }

    private Watched watchedProcess() throws Exception {
        assumeTrue(hasSetpriv(), "no setpriv");
        Path pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        String command = Watchdog.command(0, List.of(NO_DEVICE, "/nowhere")).stream()
                .map(argument -> argument.equals("0") ? "$$" : "'" + argument + "'")
                .collect(Collectors.joining(" "));
        String both = "exec 3<>\"$1\"; " + command + " <&3 & echo $!; exec sleep 600"; // each can write, too
        Process process = started(new ProcessBuilder("/bin/sh", "-c", both, "sh", pipe.toString()));
        try (OutputStream in = Files.newOutputStream(pipe)) {
            script(in);
        }
        ProcessHandle watchdog = ProcessHandle.of(
                        Long.parseLong(process.inputReader().readLine()))
                .orElseThrow();
        started.add(watchdog);
        return new Watched(process, watchdog);
    }

    private static boolean hasSetpriv() throws IOException {
        try {
            Process process = new ProcessBuilder("setpriv", "--pdeathsig", "URG", "true").start();
            boolean there = process.waitFor() == 0;
            if (!there) {
                System.out.println("skipped: setpriv cannot set a signal");
            }
            return there;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The child with which it waits; there once it is asleep. */
    private static ProcessHandle waiting(ProcessHandle watchdog) throws InterruptedException {
        while (true) {
            for (ProcessHandle child : watchdog.children().toList()) {
                if (child.info().command().filter(c -> c.endsWith("/cat")).isPresent()) {
                    return child;
                }
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    private static List<String> status(ProcessHandle process) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status"));
    }

    /** How often a process was awake. */
    private static String switches(ProcessHandle process) throws IOException {
        return status(process).stream()
                .filter(line -> line.startsWith("voluntary_ctxt_switches"))
                .collect(Collectors.joining());
    }

    /** Whether a process sleeps. One that is ready to run and is not given the processor has no more switches either. */
    private static boolean isAsleep(ProcessHandle process) throws IOException {
        return status(process).stream().anyMatch(line -> line.matches("State:\\s+S.*"));
    }

    @Test
    void watchdogThatIsTold_sleepsUntilTheProcessIsKilled_andEndsThen() throws Exception {
        Watched watched = watchedProcess();
        ProcessHandle waiting = waiting(watched.watchdog);
        String before;
        boolean asleep;
        do { // until both have fallen asleep, however long that takes them
            asleep = isAsleep(watched.watchdog) && isAsleep(waiting);
            before = switches(watched.watchdog) + switches(waiting);
            TimeUnit.SECONDS.sleep(1);
            asleep &= isAsleep(watched.watchdog) && isAsleep(waiting);
        } while (!asleep || !before.equals(switches(watched.watchdog) + switches(waiting)));
        TimeUnit.SECONDS.sleep(3);
        assertThat(switches(watched.watchdog) + switches(waiting)).isEqualTo(before);
        watched.kill();
        watched.watchdog.onExit().get(GENEROUS_S, TimeUnit.SECONDS);
        waiting.onExit().get(GENEROUS_S, TimeUnit.SECONDS);
    }

    @Test
    void watchdogThatIsTold_endsWhenTheProcessIsKilledWhileItIsStopped() throws Exception {
        Watched watched = watchedProcess();
        waiting(watched.watchdog);
        new ProcessBuilder("/bin/sh", "-c", "kill -STOP " + watched.process.pid())
                .start()
                .waitFor();
        watched.kill();
        watched.watchdog.onExit().get(GENEROUS_S, TimeUnit.SECONDS);
    }

    @Test
    void watchdogThatIsTold_endsWithItsStandardInput_onceTheProcessIsGone() throws Exception {
        Watched watched = watchedProcess();
        waiting(watched.watchdog).destroyForcibly(); // as the end of the input ends it
        assertThat(watched.watchdog.isAlive()).isTrue();
        watched.kill();
        watched.watchdog.onExit().get(GENEROUS_S, TimeUnit.SECONDS);
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

    /** What the script thinks of a mount: {@code missing} are the devices that were not at their mount points before. */
    private static boolean isOurs(String device, String point, String missing) throws Exception {
        return isOurs(device, point, missing, Path.of("/proc/self/mountinfo"));
    }

    private static boolean isOurs(String device, String point, String missing, Path table) throws Exception {
        ByteArrayOutputStream script = new ByteArrayOutputStream();
        script(script);
        String functions = script.toString(UTF_8)
                .replaceFirst("main \"\\$@\"\\s*$", "")
                .replace("/proc/self/mountinfo", table.toString());
        String ask = "missing=\" " + missing + " \"; if is_ours \"$1\" \"$2\"; then echo ours; else echo other; fi\n";
        Process process = new ProcessBuilder("/bin/sh", "-s", "--", "look", "0", device, point).start();
        try (OutputStream in = process.getOutputStream()) {
            in.write((functions + "set -- " + device + " '" + point + "'\n" + ask).getBytes(UTF_8));
        }
        String said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        assertThat(said)
                .as(new String(process.getErrorStream().readAllBytes(), UTF_8))
                .isIn("ours", "other");
        return said.equals("ours");
    }

    /** The kernel writes white space and backslashes of a path by three octal digits, and a digit may follow. */
    @Test
    void mountPointsOfAnyName_areFoundInTheTable() throws Exception {
        Path table = directory.resolve("mountinfo");
        for (String name : List.of("/run 5", "/run 05", "/a\t7\\0", "/a\\0405", "/plain", "/line\n", "/%s")) {
            String escaped = name.replace("\\", "\\134")
                    .replace(" ", "\\040")
                    .replace("\t", "\\011")
                    .replace("\n", "\\012");
            Files.writeString(
                    table, "36 25 0:57 / " + escaped + " ro,nosuid,nodev shared:1 - fuse.clairfs /data ro,user_id=0\n");
            assertThat(isOurs("0:57", name, "", table)).as(name).isTrue();
            assertThat(isOurs("0:57", name + "5", "", table)).as(name).isFalse();
        }
    }

    @Test
    void numberOfAMountThatWasTakenAway_mayBeAnothers() throws Exception {
        String device = Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                .map(line -> line.split(" "))
                .filter(words -> words[4].equals("/proc"))
                .findFirst()
                .orElseThrow()[2];
        assertThat(isOurs(device, "/proc", "")).as("it is where it was").isTrue();
        assertThat(isOurs(device, "/elsewhere", "")).as("mounted elsewhere").isFalse();
        assertThat(isOurs(device, "/proc", device)).as("mounted anew").isFalse();
        assertThat(isOurs(NO_DEVICE, "/gone", NO_DEVICE))
                .as("not mounted, and readers may wait")
                .isTrue();
    }
}
