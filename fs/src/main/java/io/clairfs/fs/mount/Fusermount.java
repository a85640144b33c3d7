package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.ProcessIdentity;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The {@code fusermount} program, which may unmount what an ordinary user mounted. */
public final class Fusermount {
    private static final String PROGRAM = "fusermount";
    private static final int SET_USER_ID = 04000;
    private static final int TIMEOUT_S = 30;

    private Fusermount() {}

    /** The program's path; null when it is not on the PATH. */
    public static @Nullable Path find() {
        return find(System.getenv("PATH"));
    }

    /** The same on another PATH; null counts as an empty one. */
    public static @Nullable Path find(@Nullable String path) {
        for (String directory : (path == null ? "" : path).split(File.pathSeparator, -1)) {
            Path program = Path.of(directory.isEmpty() ? "." : directory, PROGRAM);
            if (Files.isExecutable(program) && Files.isRegularFile(program)) {
                return program;
            }
        }
        return null;
    }

    /** Whether {@code program} runs as root for every user. */
    public static boolean mayMountForUsers(Path program) {
        try {
            FileStatus status = Posix.statAt(Posix.AT_FDCWD, program.toString().getBytes(UTF_8), 0);
            return status.uid() == 0 && (status.mode() & SET_USER_ID) != 0;
        } catch (IOException e) {
            return true; // then its own message says what is wrong
        }
    }

    /** Unmounts {@code point}; fails when it is busy. */
    public static void unmount(Path point) throws MountException {
        run(point, "-u");
    }

    /** Takes {@code point} out of the tree at once, with everything mounted below it, used or not. */
    public static void detach(Path point) throws MountException {
        if (find() == null && ProcessIdentity.userId() == 0) { // removed since this process started; root needs none
            try {
                Unmount.detach(point);
                return;
            } catch (PosixException e) {
                throw new MountException("cannot unmount " + point + " (" + e.getMessage() + ")");
            }
        }
        run(point, "-u", "-z");
    }

    private static void run(Path point, String... flags) throws MountException {
        List<String> command = new ArrayList<>(List.of(PROGRAM));
        command.addAll(List.of(flags));
        command.addAll(List.of("--", point.toString()));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new MountException("fusermount did not return within " + TIMEOUT_S + " s for " + point);
            }
            String said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
            if (process.exitValue() != 0) {
                throw new MountException(said.isEmpty() ? "fusermount failed for " + point : said);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MountException("interrupted while unmounting " + point);
        } catch (MountException e) {
            throw e;
        } catch (IOException e) {
            throw new MountException("cannot run fusermount (" + e.getMessage() + "); install the package 'fuse'");
        }
    }
}
