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
 * A control group with a memory limit, like that of a job scheduler for each job.
 *
 * <p>It uses version 1 or version 2 of the kernel's interface. If the machine allows neither, the test is skipped. The name contains the
 * process id, by which leftovers of a killed run are recognised and removed.
 */
final class MemoryGroup implements AutoCloseable {
    private static final String PREFIX = "clairfs-test-";
    private static final Path VERSION_1 = Path.of("/sys/fs/cgroup/memory");
    private static final Path VERSION_2 = Path.of("/sys/fs/cgroup");
    private static final String PROCESSES = "cgroup.procs";
    private static final long REMOVE_S = 120;
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

    /**
     * Moves a process into this group. Memory that it takes from now on counts here; memory that it has already counts in its old group.
     */
    void take(long pid) throws IOException {
        Files.writeString(group.resolve(PROCESSES), Long.toString(pid));
    }

    /** Returns a command that runs {@code command} in this group from its first page on. */
    List<String> inside(List<String> command) {
        List<String> all =
                new ArrayList<>(List.of("sh", "-c", "echo $$ > " + group.resolve(PROCESSES) + " && exec \"$@\"", "sh"));
        all.addAll(command);
        return all;
    }

    /** Limits the memory of all processes together. The kernel reclaims the excess where it can. */
    void limit(long bytes) throws IOException {
        Files.writeString(group.resolve(limitFile()), Long.toString(bytes));
    }

    /**
     * Makes the kernel reclaim memory above {@code bytes} and limits the processes to little more until {@link #unlimit}. Returns false if
     * the kernel cannot reclaim that much. In version 1 the processes are stopped for a moment, and the limit then leaves some room: a
     * process that grows without room is killed.
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
            Ended _ = Ended.run(List.of("kill", "-" + signal, pid), Map.of()); // an ended process needs no signal
        }
    }

    /** Removes the limit of {@link #limit} or {@link #squeeze}. */
    void unlimit() throws IOException {
        Files.writeString(group.resolve(limitFile()), second ? "max" : "-1");
        if (second) {
            Files.writeString(group.resolve("memory.high"), "max");
        }
    }

    /** The memory of its processes, pages of files included, bytes. */
    long usedBytes() throws IOException {
        return number(second ? "memory.current" : "memory.usage_in_bytes");
    }

    /** The peak of that memory, bytes. */
    long peakBytes() throws IOException {
        return number(second ? "memory.peak" : "memory.max_usage_in_bytes");
    }

    /** Pages of files that its processes brought in, bytes. */
    long pageCacheBytes() throws IOException {
        return figure("memory.stat", second ? "file" : "cache");
    }

    /** The number of processes that the kernel killed because of the limit. */
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

    /** Removes the group. Its processes move to the group above and live on. */
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
