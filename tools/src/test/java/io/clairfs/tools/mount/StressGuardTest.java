package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a random test leaves when it is killed, whatever else is ended with it. */
@Timeout(600)
final class StressGuardTest {
    private static final List<String> ENDING_A_SESSION = List.of("HUP", "INT", "QUIT", "TERM");

    /** HUP, INT, QUIT and TERM among the signals that a process ignores. */
    private static final long DEAF = 0x4007;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    private Process started(String... command) throws IOException {
        Process process =
                new ProcessBuilder(command).redirectError(Redirect.DISCARD).start();
        started.add(process);
        return process;
    }

    /** The guard over a process, once it leads its session and ignores the signals. */
    private static ProcessHandle guardOver(long pid, Path directory) throws Exception {
        String words = String.join("\0", StressGuard.NAME, Long.toString(pid), directory.toString()) + "\0";
        List<ProcessHandle> found = new ArrayList<>();
        Waiting.until("there is a guard", () -> {
            found.clear();
            ProcessHandle.allProcesses()
                    .filter(process -> of(process, "cmdline").endsWith(words))
                    .filter(process -> leadsItsSession(process) && (ignored(process) & DEAF) == DEAF)
                    .forEach(found::add);
            return found.size() == 1;
        });
        return found.getFirst();
    }

    /** What the kernel says of a process; empty when that is gone. */
    private static String of(ProcessHandle process, String file) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(process.pid()), file), ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }

    private static boolean leadsItsSession(ProcessHandle process) {
        String stat = of(process, "stat");
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
        return fields.length > 3 && fields[3].equals(Long.toString(process.pid()));
    }

    private static long ignored(ProcessHandle process) {
        return of(process, "status")
                .lines()
                .filter(line -> line.startsWith("SigIgn:"))
                .mapToLong(line -> Long.parseUnsignedLong(
                        line.substring("SigIgn:".length()).strip(), 16))
                .findFirst()
                .orElse(0);
    }

    @Test
    void testThatIsKilled_afterSignalsThatEndASession_leavesNothing_andNobodyElseIsEnded() throws Exception {
        Path dataset = fixture.newDirectory("dataset");
        Images.make(dataset.resolve("c"), 3, 1000);
        LiveMount mount = fixture.mount(dataset);
        long daemon = mount.pid();
        Process program = fixture.start("program", List.of("sleep", "600"));
        Path directory = fixture.directory();
        Process bystander = started("cat", "-", directory.resolve("unknown").toString());
        Process test = started("sleep", "600");
        StressGuard.start(test.pid(), directory);
        ProcessHandle guard = guardOver(test.pid(), directory);
        assertThat(guard.parent().map(ProcessHandle::pid))
                .as("it is nobody's descendant that may be ended")
                .isNotEqualTo(Optional.of(ProcessHandle.current().pid()));
        for (String signal : ENDING_A_SESSION) {
            FaultyProcess.signal(guard.pid(), signal);
        }
        assertThat(mount.pid()).as("while the test lives").isEqualTo(daemon);
        test.destroyForcibly();
        Waiting.until("the directory is gone", () -> Files.notExists(directory));
        assertThat(fixture.mounts()).isEmpty();
        Waiting.until("the daemon is gone", () -> FaultyProcess.isGone(daemon));
        Waiting.until("the program is gone", () -> FaultyProcess.isGone(program.pid()));
        Waiting.until("the guard is gone", () -> FaultyProcess.isGone(guard.pid()));
        assertThat(bystander.isAlive())
                .as("who names the directory and is not of the test")
                .isTrue();
    }

    @Test
    void testThatIsAZombie_hasEnded() throws Exception {
        Path directory = fixture.newDirectory("another");
        Process parent = started("/bin/sh", "-c", "sleep 600 & echo $!; exec sleep 600");
        long test = Long.parseLong(parent.inputReader().readLine());
        StressGuard.start(test, directory);
        ProcessHandle _ = guardOver(test, directory);
        FaultyProcess.signal(test, "KILL");
        Waiting.until("the directory is gone", () -> Files.notExists(directory));
        assertThat(parent.isAlive()).isTrue();
    }

    @Test
    void testThatRemovesItsDirectory_needsNoGuardAnyMore() throws Exception {
        Path directory = fixture.newDirectory("another");
        Process test = started("sleep", "600");
        StressGuard.start(test.pid(), directory);
        ProcessHandle guard = guardOver(test.pid(), directory);
        Files.delete(directory);
        Waiting.until("the guard is gone", () -> FaultyProcess.isGone(guard.pid()));
        assertThat(test.isAlive()).isTrue();
    }
}
