package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.faulty.FaultyCommand;
import io.clairfs.tools.node.mount.MountProcess;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A faulty source in its own process, which tests can stop and kill. It ends with the test at the latest, even if the test fails or is
 * killed.
 */
final class FaultyProcess implements AutoCloseable {
    private final Process process;
    private final BufferedWriter in;
    private final BufferedReader out;
    private final Path point;

    private FaultyProcess(Process process, Path point) {
        this.process = process;
        this.point = point;
        in = process.outputWriter(UTF_8);
        out = process.inputReader(UTF_8);
    }

    /** Starts a process that shows the directory {@code shown} at {@code point}. */
    static FaultyProcess start(Path shown, Path point) throws IOException {
        Process process = new ProcessBuilder(Clairfs.ofTests(FaultyCommand.class, shown.toString(), point.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        FaultyProcess started = new FaultyProcess(process, point);
        assertThat(started.out.readLine()).isEqualTo("mounted");
        return started;
    }

    Path point() {
        return point;
    }

    /** Sends a line. Returns the answer after {@code ok}. */
    String ask(String line) throws IOException {
        in.write(line + "\n");
        in.flush();
        String answer = out.readLine();
        assertThat(answer).startsWith("ok");
        return answer.substring("ok".length()).strip();
    }

    /** Whether a fault, such as {@code hang read}, has struck any request. */
    boolean hasStruck(String kindAndRequest) throws IOException {
        return ask("counts").contains(kindAndRequest + "=");
    }

    /** Stops the process. Returns when none of its threads can take a request. */
    void stop() throws Exception {
        signal("STOP");
        Waiting.until("every thread of the source is stopped", () -> allStopped(process.pid()));
    }

    /** Whether every thread of a process is stopped. One that ends meanwhile was not. */
    static boolean allStopped(long pid) {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path task : tasks) {
                String stat = Files.readString(task.resolve("stat"), UTF_8);
                if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
        } catch (IOException | DirectoryIteratorException ended) {
            return false;
        }
        return true;
    }

    static void signal(long pid, String name) throws IOException, InterruptedException {
        Ended.run(List.of("kill", "-" + name, Long.toString(pid)), Map.of()).succeeded();
    }

    /** Whether a process is gone completely. */
    static boolean isGone(long pid) {
        return MountProcess.state(pid) == MountProcess.State.GONE;
    }

    /** Continues the process after {@link #stop}. */
    void goOn() throws IOException, InterruptedException {
        signal("CONT");
    }

    /** Sends a signal without waiting for its effect. */
    void signal(String name) throws IOException, InterruptedException {
        signal(process.pid(), name);
    }

    /** Kills the process. Waiting requests fail, and so do later ones. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() throws IOException {
        kill();
        in.close();
        out.close();
    }
}
