package io.clairfs.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.tools.JavaCommand;
import io.clairfs.tools.node.MountLog;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.config.StateDirectory;
import io.clairfs.tools.node.mount.ControlPoint;
import io.clairfs.tools.node.mount.ControlRead;
import io.clairfs.tools.node.mount.MountCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs the mount in a process with its own session, so that it outlives the terminal, and waits until the mount answers.
 *
 * <p>The process writes its output to a log under {@code $XDG_STATE_HOME/clairfs}. If the process ends before the mount is ready, the last
 * error line of the log is the reason.
 */
final class BackgroundMount {
    private static final long READY_TIMEOUT_MS = 60_000;

    /** Longer than the bound within which a daemon ends. */
    private static final long END_TIMEOUT_MS = 20_000;

    private static final long POLL_MS = 10;

    private static final Set<PosixFilePermission> FOR_OWNER = PosixFilePermissions.fromString("rwx------");

    private BackgroundMount() {}

    /**
     * Starts the mount's process and waits until it answers.
     *
     * @param launcherLog what the launcher has begun for this process, if that is its child: then the launcher is told that the mount answers
     */
    static void start(List<String> arguments, MountConfig config, @Nullable Path launcherLog)
            throws IOException, CommandFailedException {
        Path log = log(config.mountPoint());
        List<String> command = new ArrayList<>(List.of("setsid"));
        command.addAll(
                config.group() == null
                        ? JavaCommand.thisProgram(heap(config))
                        : JavaCommand.thisProgramInGroup(heap(config)));
        command.add(arguments.getFirst());
        command.add("-f"); // not at the end, where it may be behind a "--"
        if (arguments.stream().noneMatch(argument -> argument.startsWith("--restarts"))) {
            command.add("--restarts=" + config.restart().mostInAMinute()); // else one in the foreground has none
        }
        command.addAll(arguments.subList(1, arguments.size()));
        ProcessBuilder daemon = new ProcessBuilder(command)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(log.toFile())
                .redirectErrorStream(true);
        daemon.environment().putIfAbsent(JavaCommand.ALLOCATION_VARIABLE, JavaCommand.ALLOCATION);
        Process process = daemon.start();
        Thread end = new Thread(process::destroy);
        try {
            Runtime.getRuntime().addShutdownHook(end); // who ends the command wants no mount
            awaitReady(process, config.mountPoint(), log, READY_TIMEOUT_MS);
            if (launcherLog != null) {
                Files.deleteIfExists(launcherLog);
                if (!isLauncherTold()) {
                    end(process, config.mountPoint());
                    throw endedBefore();
                }
            }
            Runtime.getRuntime().removeShutdownHook(end);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroy();
            throw new CommandFailedException("interrupted while mounting");
        } catch (IllegalStateException ending) {
            process.destroy();
            throw new CommandFailedException("ended while mounting");
        }
    }

    /** Whether this process may serve the mount: its heap bound is not above the mount's. */
    static boolean fits(MountConfig config) {
        return Runtime.getRuntime().maxMemory() <= heap(config);
    }

    /** Gives the log that the launcher began the name of the mount's log. */
    static void keepLog(Path begun, Path mountPoint) throws IOException {
        Path log = begun.resolveSibling(MountLog.name(mountPoint));
        MountLog.keepOlder(log);
        Files.move(begun, log, StandardCopyOption.REPLACE_EXISTING);
    }

    /**
     * Tells the launcher, which reads standard output, that the mount answers. Then closes standard output.
     *
     * @throws CommandFailedException if the mount does not answer, or the launcher has ended: who ended the command wants no mount
     */
    static void tellLauncher(Path mountPoint) throws IOException, CommandFailedException {
        Path status = mountPoint.resolve(DatasetMount.CONTROL_DIRECTORY).resolve("status.json");
        switch (ControlRead.read(status, READY_TIMEOUT_MS)) {
            case ControlRead.Answer.Content _ -> {}
            case ControlRead.Answer.Refused(String reason) ->
                throw new CommandFailedException("the mount does not answer: " + reason);
            case ControlRead.Answer.Silence _ -> throw new CommandFailedException(notReady(READY_TIMEOUT_MS));
        }
        if (!isLauncherTold()) {
            throw endedBefore();
        }
    }

    private static boolean isLauncherTold() {
        System.out.print('\0');
        boolean isTold = !System.out.checkError();
        System.out.close();
        return isTold;
    }

    private static CommandFailedException endedBefore() {
        return new CommandFailedException("the command that mounts was ended before the mount answered");
    }

    private static String notReady(long timeoutMs) {
        return "the mount was not ready within " + timeoutMs / 1000 + " s";
    }

    /** The heap bound of the started process, bytes. JDK_JAVA_OPTIONS takes precedence over it. */
    private static long heap(MountConfig config) {
        return config.areas().heapBytes();
    }

    /**
     * Waits until the control files are mounted and answer. Only then is the mount itself accessed, and by a separate process: the mount
     * may hang, and a thread that waits for it cannot be interrupted.
     */
    static void awaitReady(Process process, Path mountPoint, Path log, long timeoutMs)
            throws InterruptedException, IOException, CommandFailedException {
        Path status = mountPoint.resolve(DatasetMount.CONTROL_DIRECTORY).resolve("status.json");
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (!process.waitFor(POLL_MS, TimeUnit.MILLISECONDS)) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (leftMs > 0
                    && ControlPoint.isMounted(mountPoint)
                    && ControlRead.read(status, leftMs) instanceof ControlRead.Answer.Content(String said)
                    && new JsonMapper().readTree(said).path("pid").asLong() == process.pid()) { // not another's mount
                return;
            }
            if (System.nanoTime() > deadline) {
                end(process, mountPoint);
                throw new CommandFailedException(notReady(timeoutMs) + "; its log: " + log);
            }
        }
        throw new CommandFailedException(reason(log));
    }

    /** Ends a process that may hang, and removes its mount. */
    private static void end(Process process, Path mountPoint) throws InterruptedException, IOException {
        process.destroy();
        if (!process.waitFor(END_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
            process.destroyForcibly();
        }
        if (MountCheck.isOurs(mountPoint)) {
            MountCheck.remove(mountPoint);
        }
    }

    /** The last line of clairfs in the log, with the last line of libfuse or fusermount. */
    private static String reason(Path log) throws IOException {
        List<String> lines = Files.readAllLines(log, UTF_8).reversed();
        String reason = lines.stream()
                .filter(line -> line.startsWith("clairfs: "))
                .map(line -> line.substring("clairfs: ".length()))
                .findFirst()
                .orElse("the mount's process ended early; its log: " + log);
        return lines.stream()
                .filter(line -> line.startsWith("fuse: ") || line.startsWith("fusermount: "))
                .findFirst()
                .map(said -> reason + " (" + said + ")")
                .orElse(reason);
    }

    /** Makes a new, empty file for this user alone. The one before is kept beside it; a link at its path is removed, never written to. */
    private static Path log(Path mountPoint) throws IOException {
        String name = MountLog.name(mountPoint);
        try {
            Path directory = StateDirectory.ofUser().resolve("clairfs");
            Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(FOR_OWNER));
            Files.setPosixFilePermissions(directory, FOR_OWNER); // fails if another user owns it
            return create(directory.resolve(name));
        } catch (IOException noHome) { // the user nobody and users of containers may have no writable home
            return create(Files.createTempDirectory("clairfs-log-").resolve(name));
        }
    }

    private static Path create(Path log) throws IOException {
        MountLog.keepOlder(log);
        return Files.createFile(
                log, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
}
