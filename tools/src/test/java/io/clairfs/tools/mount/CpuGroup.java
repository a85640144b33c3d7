package io.clairfs.tools.mount;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A control group with a limit on processor time, version 1 or 2. If the machine allows neither, the test is skipped. */
final class CpuGroup implements AutoCloseable {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");
    private static final long PERIOD_US = 20_000;
    private static final String PROCESSES = "cgroup.procs";
    private static int made;

    /** One group, or in version 1 one of each controller. */
    private final List<Path> groups;

    private final boolean second;

    private CpuGroup(List<Path> groups, boolean second) {
        this.groups = groups;
        this.second = second;
    }

    /** A new group without a limit. */
    static CpuGroup create() {
        boolean second = Files.exists(ROOT.resolve("cgroup.controllers"));
        String name = "clairfs-test-" + ProcessHandle.current().pid() + "-cpu" + made++;
        List<Path> groups = new ArrayList<>();
        try {
            if (second) {
                Files.writeString(ROOT.resolve("cgroup.subtree_control"), "+cpu");
                groups.add(Files.createDirectory(ROOT.resolve(name)));
            } else {
                groups.add(Files.createDirectory(ROOT.resolve("cpu").resolve(name)));
                Path accounts = ROOT.resolve("cpuacct").resolve(name);
                groups.add(Files.exists(accounts) ? accounts : Files.createDirectory(accounts));
            }
            return new CpuGroup(groups, second);
        } catch (IOException e) {
            String reason = "no control group with a limit on processor time can be made here: " + e;
            System.out.println("skipped: " + reason);
            return abort(reason);
        }
    }

    /** Limits its processes to so many processors together. */
    void limit(double processors) throws IOException {
        long quota = Math.round(processors * PERIOD_US);
        if (second) {
            Files.writeString(groups.getFirst().resolve("cpu.max"), quota + " " + PERIOD_US);
        } else {
            Files.writeString(groups.getFirst().resolve("cpu.cfs_period_us"), Long.toString(PERIOD_US));
            Files.writeString(groups.getFirst().resolve("cpu.cfs_quota_us"), Long.toString(quota));
        }
    }

    /** The processor time of its processes so far, seconds. */
    double usedSeconds() throws IOException {
        if (!second) {
            return Long.parseLong(Files.readString(groups.getLast().resolve("cpuacct.usage"))
                            .strip())
                    / 1e9;
        }
        String used = Files.readAllLines(groups.getFirst().resolve("cpu.stat")).stream()
                .filter(line -> line.startsWith("usage_usec "))
                .findFirst()
                .orElseThrow();
        return Long.parseLong(used.substring("usage_usec ".length())) / 1e6;
    }

    /** A command that runs {@code command} in this group. */
    String[] inside(String... command) {
        StringBuilder enter = new StringBuilder();
        groups.forEach(group ->
                enter.append("echo $$ > ").append(group.resolve(PROCESSES)).append(" && "));
        List<String> all = new ArrayList<>(List.of("sh", "-c", enter + "exec \"$@\"", "sh"));
        all.addAll(List.of(command));
        return all.toArray(String[]::new);
    }

    /** Removes the group, whose processes have ended or end now. */
    @Override
    public void close() throws IOException {
        for (Path group : groups) {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
            while (Files.exists(group)) {
                try {
                    for (String pid : Files.readAllLines(group.resolve(PROCESSES))) {
                        Files.writeString(group.resolveSibling(PROCESSES), pid);
                    }
                    Files.delete(group);
                } catch (IOException busy) {
                    if (System.nanoTime() > deadline) {
                        throw busy;
                    }
                    Thread.onSpinWait();
                }
            }
        }
    }
}
