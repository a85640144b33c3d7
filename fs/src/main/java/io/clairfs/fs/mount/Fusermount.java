package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The {@code fusermount} program, which may unmount what an ordinary user mounted. */
public final class Fusermount {
    private static final int TIMEOUT_S = 10;

    private Fusermount() {}

    /** Unmounts {@code point}; fails when it is busy. */
    public static void unmount(Path point) throws MountException {
        run(point, "-u");
    }

    /** Takes {@code point} out of the tree at once, with everything mounted below it, used or not. */
    public static void detach(Path point) throws MountException {
        run(point, "-u", "-z");
    }

    private static void run(Path point, String... flags) throws MountException {
        List<String> command = new ArrayList<>(List.of("fusermount"));
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
