package io.clairfs.tools.node;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.LoggerContext;
import io.clairfs.cache.posix.Posix;
import io.clairfs.tools.node.config.StateDirectory;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * The log of a mount: the file that its standard error goes to, with everything that the JVM and libraries say. It is replaced when it has
 * grown to 10 MiB; three older ones are kept beside it, {@code .1} the newest.
 */
public final class MountLog {
    private static final Logger LOG = System.getLogger(MountLog.class.getName());
    private static final int STDOUT = 1;
    private static final int STDERR = 2;
    private static final long MOST_BYTES = 10 << 20;
    private static final int OLDER = 3;
    private static final long LOOK_S = 30;
    private static final int FOR_OWNER = 0600;

    private MountLog() {}

    /** The name of a mount's log. */
    public static String name(Path mountPoint) {
        return StateDirectory.nameOf(mountPoint) + ".log";
    }

    /** Keeps {@code log}, if it is a file, as {@code .1}, and those before it as {@code .2} and {@code .3}. Nothing is there afterwards. */
    public static void keepOlder(Path log) throws IOException {
        if (!Files.isRegularFile(log, LinkOption.NOFOLLOW_LINKS)) {
            Files.deleteIfExists(log);
            return;
        }
        for (int age = OLDER; age > 0; age--) {
            Path younger = age == 1 ? log : older(log, age - 1);
            if (Files.exists(younger, LinkOption.NOFOLLOW_LINKS)) {
                Files.move(younger, older(log, age), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static Path older(Path log, int age) {
        return log.resolveSibling(log.getFileName() + "." + age);
    }

    /**
     * Goes on with the log of a mount whose process has died, if standard error is that log or an older one: a supervisor keeps what it was started
     * with, which may have been replaced since.
     */
    public static void rejoin(Path mountPoint) throws IOException {
        Path now = target(STDERR);
        if (!now.getFileName().toString().startsWith(name(mountPoint) + ".")) {
            return;
        }
        int fresh = Posix.openAt(
                Posix.AT_FDCWD,
                now.resolveSibling(name(mountPoint)).toString().getBytes(UTF_8),
                Posix.O_WRONLY | Posix.O_APPEND | Posix.O_CREAT | Posix.O_NOFOLLOW,
                FOR_OWNER);
        try {
            Posix.replace(STDERR, fresh);
        } finally {
            Posix.close(fresh);
        }
    }

    /** From now on replaces the log when it is long, if standard error is the log of this mount. */
    static void watch(Path mountPoint) {
        Thread.ofPlatform().daemon().name("log-watcher").start(() -> {
            try {
                boolean watched = true;
                while (watched) {
                    TimeUnit.SECONDS.sleep(LOOK_S);
                    watched = look(mountPoint);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Looks once. Returns whether there is anything to watch. */
    private static boolean look(Path mountPoint) {
        try {
            Path log = target(STDERR);
            if (!log.getFileName().toString().equals(name(mountPoint))) {
                return false;
            }
            replaceIfLong(log, MOST_BYTES);
        } catch (IOException e) { // such as a full disk, which has room again later
            LOG.log(Level.DEBUG, "the log is replaced later", e);
        }
        return true;
    }

    /** Writes the lines that wait, for a second at most. Nothing is logged afterwards. */
    public static void end() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.stop();
        }
    }

    private static Path target(int descriptor) throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(descriptor)));
    }

    /** Begins a new log in place of one that has {@code most} bytes. Whoever writes meanwhile writes to the older one. */
    private static void replaceIfLong(Path log, long most) throws IOException {
        if (Files.size(log) < most) {
            return;
        }
        boolean hasOutput = target(STDOUT).equals(log);
        Path next = log.resolveSibling(log.getFileName() + ".next");
        Files.deleteIfExists(next);
        int fresh = Posix.openAt(
                Posix.AT_FDCWD,
                next.toString().getBytes(UTF_8),
                Posix.O_WRONLY | Posix.O_CREAT | Posix.O_EXCL | Posix.O_NOFOLLOW,
                FOR_OWNER);
        try {
            keepOlder(log);
            Files.move(next, log, StandardCopyOption.ATOMIC_MOVE);
            Posix.replace(STDERR, fresh);
            if (hasOutput) {
                Posix.replace(STDOUT, fresh);
            }
        } finally {
            Posix.close(fresh);
        }
    }
}
