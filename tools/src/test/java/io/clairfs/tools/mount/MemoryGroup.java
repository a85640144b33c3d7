package io.clairfs.tools.mount;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A control group with a limit on memory, as a job scheduler gives one to each job.
 *
 * <p>Version 1 and version 2 of the kernel's interface; a machine that allows neither has the test skipped. What a killed run left
 * is told by the process in its name, and removed.
 */
final class MemoryGroup implements AutoCloseable {
    private static final String PREFIX = "clairfs-test-";
    private static final Path VERSION_1 = Path.of("/sys/fs/cgroup/memory");
    private static final Path VERSION_2 = Path.of("/sys/fs/cgroup");
    private static final String PROCESSES = "cgroup.procs";
    private static final long REMOVE_S = 10;
    private static final long BUSY_NS = 50_000_000;
    private static final long ROOM_BYTES = 128L << 20;
    private static int made;

    private final Path group;
    private final boolean second;

    private MemoryGroup(Path group, boolean second) {
        this.group = group;
        this.second = second;
    }

    /** A new group without a limit. */
    static MemoryGroup create() throws IOException {
        boolean second = Files.exists(VERSION_2.resolve("cgroup.controllers"));
        Path parent = second ? VERSION_2 : VERSION_1;
        try {
            removeLeft(parent);
            if (second) {
                Files.writeString(parent.resolve("cgroup.subtree_control"), "+memory");
            }
            Path group = Files.createDirectory(
                    parent.resolve(PREFIX + ProcessHandle.current().pid() + "-" + made++));
            MemoryGroup created = new MemoryGroup(group, second);
            if (Files.exists(group.resolve(created.limitFile()))) {
                return created;
            }
            created.close();
        } catch (IOException notAllowed) {
            System.out.println("no control group: " + notAllowed);
        }
        String reason = "no control group with a limit on memory can be made here";
        System.out.println("skipped: " + reason);
        return abort(reason);
    }

    /** A group below this one, without a limit of its own; it is closed before this one. */
    MemoryGroup nested() throws IOException {
        if (second) {
            Files.writeString(group.resolve("cgroup.subtree_control"), "+memory");
        }
        return new MemoryGroup(Files.createDirectory(group.resolve("step")), second);
    }

    private static void removeLeft(Path parent) throws IOException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path found : all) {
                String pid = found.getFileName()
                        .toString()
                        .substring(PREFIX.length())
                        .split("-", 2)[0];
                if (pid.matches("[0-9]{1,9}")
                        && ProcessHandle.of(Long.parseLong(pid)).isEmpty()) {
                    System.out.println("removing what a killed run left: " + found);
                    remove(found);
                }
            }
        }
    }

    private String limitFile() {
        return second ? "memory.max" : "memory.limit_in_bytes";
    }

    /** From now on what this process takes counts here; what it has already counts where it was. */
    void take(long pid) throws IOException {
        Files.writeString(group.resolve(PROCESSES), Long.toString(pid));
    }

    /** A command that runs {@code command} in this group from its first page on. */
    List<String> inside(List<String> command) {
        List<String> all =
                new ArrayList<>(List.of("sh", "-c", "echo $$ > " + group.resolve(PROCESSES) + " && exec \"$@\"", "sh"));
        all.addAll(command);
        return all;
    }

    /** What its processes may take together; what is over it already is taken back where the kernel can. */
    void limit(long bytes) throws IOException {
        Files.writeString(group.resolve(limitFile()), Long.toString(bytes));
    }

    /**
     * Has the kernel take back what is over so many bytes, and lets the processes have little more than that until {@link #unlimit}. Returns false when
     * the kernel cannot take so much back. In version 1 they are stopped for a moment and get room above what is left then: who grows without any is killed.
     */
    boolean squeeze(long bytes) throws IOException, InterruptedException {
        if (second) {
            Files.writeString(group.resolve("memory.high"), Long.toString(bytes));
            return true;
        }
        signalAll("STOP");
        try {
            TimeUnit.NANOSECONDS.sleep(BUSY_NS);
            limit(bytes);
            limit(bytes + ROOM_BYTES);
            return true;
        } catch (IOException busy) {
            unlimit();
            return false;
        } finally {
            signalAll("CONT");
        }
    }

    private void signalAll(String signal) throws IOException, InterruptedException {
        for (String pid : Files.readAllLines(group.resolve(PROCESSES))) {
            Ended _ = Ended.run(List.of("kill", "-" + signal, pid), Map.of()); // one that has ended needs none
        }
    }

    /** Ends what {@link #limit} or {@link #squeeze} said. */
    void unlimit() throws IOException {
        Files.writeString(group.resolve(limitFile()), second ? "max" : "-1");
        if (second) {
            Files.writeString(group.resolve("memory.high"), "max");
        }
    }

    /** What its processes have taken, pages of files included, bytes. */
    long usedBytes() throws IOException {
        return number(second ? "memory.current" : "memory.usage_in_bytes");
    }

    /** The most that they ever had, bytes. */
    long peakBytes() throws IOException {
        return number(second ? "memory.peak" : "memory.max_usage_in_bytes");
    }

    /** Pages of files that its processes brought in, bytes. */
    long pageCacheBytes() throws IOException {
        return figure("memory.stat", second ? "file" : "cache");
    }

    /** Processes that the kernel ended for want of memory. */
    long killed() throws IOException {
        return figure(second ? "memory.events" : "memory.oom_control", "oom_kill");
    }

    private long number(String file) throws IOException {
        return Long.parseLong(Files.readString(group.resolve(file)).strip());
    }

    private long figure(String file, String name) throws IOException {
        for (String line : Files.readAllLines(group.resolve(file))) {
            if (line.startsWith(name + " ")) {
                return Long.parseLong(line.substring(name.length() + 1));
            }
        }
        throw new IOException("no " + name + " in " + group.resolve(file));
    }

    /** Its processes go back to where groups begin, and live on. */
    @Override
    public void close() throws IOException {
        remove(group);
    }

    private static void remove(Path group) throws IOException {
        Path nested = group.resolve("step");
        if (Files.exists(nested)) {
            remove(nested);
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(REMOVE_S);
        while (true) {
            for (String pid : Files.readAllLines(group.resolve(PROCESSES))) {
                try {
                    Files.writeString(group.resolveSibling(PROCESSES), pid);
                } catch (IOException ended) {
                    System.out.println("process " + pid + " has ended meanwhile");
                }
            }
            try {
                Files.delete(group);
                return;
            } catch (IOException busy) {
                if (System.nanoTime() > deadline) {
                    throw busy;
                }
                LockSupport.parkNanos(BUSY_NS);
            }
        }
    }
}
