package io.clairfs.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.tools.JavaCommand;
import io.clairfs.tools.node.config.MountConfig;
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

/**
 * Runs the mount in a process of its own session, so that it outlives the terminal, and waits until it answers.
 *
 * <p>What the process says goes to a log under {@code $XDG_STATE_HOME/clairfs}; when it ends before it is ready, its last line is
 * the reason.
 */
final class BackgroundMount {
    private static final long READY_TIMEOUT_MS = 60_000;

    /** More than a daemon takes to end, which is bounded too. */
    private static final long END_TIMEOUT_MS = 20_000;

    private static final long POLL_MS = 10;

    /**
     * How the C library is to keep memory for samples: in one region that grows by many at a time and is made of huge pages where the system allows it. Otherwise each
     * sample is a system call and a fault for each of its pages, a third of the cost of a read that nobody staged.
     */
    private static final String ALLOCATION =
            "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1:glibc.malloc.top_pad=67108864"
                    + ":glibc.malloc.mmap_threshold=33554432";

    private static final Set<PosixFilePermission> FOR_OWNER = PosixFilePermissions.fromString("rwx------");

    private BackgroundMount() {}

    static void start(List<String> arguments, MountConfig config) throws IOException, CommandFailedException {
        Path log = log(config.mountPoint());
        List<String> command = new ArrayList<>(List.of("setsid"));
        command.addAll(
                config.group() == null
                        ? JavaCommand.thisProgram(heap(config))
                        : JavaCommand.thisProgramInGroup(heap(config)));
        command.addAll(arguments);
        command.add("-f");
        ProcessBuilder daemon = new ProcessBuilder(command)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(log.toFile())
                .redirectErrorStream(true);
        daemon.environment().putIfAbsent("GLIBC_TUNABLES", ALLOCATION);
        Process process = daemon.start();
        try {
            awaitReady(process, config.mountPoint(), log, READY_TIMEOUT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroy();
            throw new CommandFailedException("interrupted while mounting");
        }
    }

    /** Whether this process may be the mount's own: its heap is not larger than that may be. */
    static boolean fits(MountConfig config) {
        return Runtime.getRuntime().maxMemory() <= heap(config);
    }

    /** Gives the log that the launcher has begun the mount's name. */
    static void keepLog(Path begun, Path mountPoint) throws IOException {
        Files.move(begun, begun.resolveSibling(logName(mountPoint)), StandardCopyOption.REPLACE_EXISTING);
    }

    /** Tells the launcher, which waits for it on standard output, that the mount answers; standard output is closed by that. */
    static void tellLauncher(Path mountPoint) throws IOException, CommandFailedException {
        Path status = mountPoint.resolve(DatasetMount.CONTROL_DIRECTORY).resolve("status.json");
        if (!(ControlRead.read(status, READY_TIMEOUT_MS) instanceof ControlRead.Answer.Content)) {
            throw new CommandFailedException(notReady(READY_TIMEOUT_MS));
        }
        System.out.print('\0');
        System.out.close();
    }

    private static String notReady(long timeoutMs) {
        return "the mount was not ready within " + timeoutMs / 1000 + " s";
    }

    /** Of the process that is started, bytes; it may be said with JDK_JAVA_OPTIONS as well, which goes before. */
    private static long heap(MountConfig config) {
        return config.areas().heapBytes();
    }

    /**
     * Waits until the control files are mounted and answer. The mount itself is not looked at before, and then by a process of its own: it may
     * hang, and a thread that waits for it could not be called back.
     */
    static void awaitReady(Process process, Path mountPoint, Path log, long timeoutMs)
            throws InterruptedException, IOException, CommandFailedException {
        Path status = mountPoint.resolve(DatasetMount.CONTROL_DIRECTORY).resolve("status.json");
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (!process.waitFor(POLL_MS, TimeUnit.MILLISECONDS)) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (leftMs > 0
                    && ControlPoint.isMounted(mountPoint)
                    && ControlRead.read(status, leftMs) instanceof ControlRead.Answer.Content) {
                return;
            }
            if (System.nanoTime() > deadline) {
                end(process, mountPoint);
                throw new CommandFailedException(notReady(timeoutMs) + "; its log: " + log);
            }
        }
        throw new CommandFailedException(reason(log));
    }

    /** Ends a process that may hang, and takes away what it has mounted. */
    private static void end(Process process, Path mountPoint) throws InterruptedException, IOException {
        process.destroy();
        if (!process.waitFor(END_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
            process.destroyForcibly();
        }
        if (MountCheck.isOurs(mountPoint)) {
            MountCheck.remove(mountPoint);
        }
    }

    /** Our own line, and what libfuse or fusermount had said before it. */
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

    /** A new, empty file for this user alone; what lay there, be it a link, is not written to. */
    private static Path log(Path mountPoint) throws IOException {
        String name = logName(mountPoint);
        try {
            Path directory = stateDirectory().resolve("clairfs");
            Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(FOR_OWNER));
            Files.setPosixFilePermissions(directory, FOR_OWNER); // fails when it is somebody else's
            return create(directory.resolve(name));
        } catch (IOException noHome) { // nobody and users of containers may have none that they may write to
            return create(Files.createTempDirectory("clairfs-log-").resolve(name));
        }
    }

    private static String logName(Path mountPoint) {
        return mountPoint.toString().substring(1).replace('/', '-') + ".log";
    }

    private static Path create(Path log) throws IOException {
        Files.deleteIfExists(log);
        return Files.createFile(
                log, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    private static Path stateDirectory() {
        String state = System.getenv("XDG_STATE_HOME");
        if (state != null && !state.isEmpty()) {
            return Path.of(state);
        }
        String home = System.getenv("HOME");
        return Path.of(home == null || home.isEmpty() ? System.getProperty("user.home") : home, ".local", "state");
    }
}
