package io.clairfs.tools.bench.wire;

import io.clairfs.fs.mount.Fusermount;
import io.clairfs.tools.OpenParts;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another FUSE filesystem that passes through the files of a directory. Closing it unmounts. */
record OtherMount(String name, Path point, Process process) implements AutoCloseable {
    private static final long TIMEOUT_S = 10;
    private static final String BINDFS = "bindfs";
    private static final String MERGERFS = "mergerfs";

    /** Mounts each installed filesystem below {@code parent} and adds it to {@code parts}. */
    static List<OtherMount> all(Path source, Path parent, OpenParts parts) throws IOException, InterruptedException {
        List<OtherMount> mounts = new ArrayList<>();
        for (String name : List.of(BINDFS, MERGERFS)) {
            if (isInstalled(name)) {
                mounts.add(parts.add(start(name, source, Files.createDirectories(parent.resolve(name)))));
            }
        }
        return mounts;
    }

    private static boolean isInstalled(String name) {
        for (String directory : System.getenv("PATH").split(File.pathSeparator, -1)) {
            if (!directory.isEmpty() && Files.isExecutable(Path.of(directory, name))) {
                return true;
            }
        }
        return false;
    }

    private static OtherMount start(String name, Path source, Path point) throws IOException, InterruptedException {
        List<String> command = name.equals(BINDFS)
                ? List.of(name, "-f", "--no-allow-other", "-r", source.toString(), point.toString())
                : List.of(name, "-f", "-o", "cache.files=auto-full", source.toString(), point.toString());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        Object before = Files.getAttribute(point.getParent(), "unix:dev");
        while (Files.getAttribute(point, "unix:dev").equals(before)) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                process.destroy();
                throw new IOException(name + " did not mount");
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return new OtherMount(name, point, process);
    }

    @Override
    public void close() throws IOException {
        Fusermount.detach(point);
        try {
            if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
