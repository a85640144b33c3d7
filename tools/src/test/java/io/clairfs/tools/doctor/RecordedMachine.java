package io.clairfs.tools.doctor;

import io.clairfs.tools.doctor.Finding.Verdict;
import io.clairfs.tools.node.config.SsdConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** A good machine of an ordinary user, in files, and a mount that is wanted there. A test spoils one thing. */
final class RecordedMachine {
    static final int USER = 1000;
    static final String ALL_CAPABILITIES = "000001ffffffffff";
    private static final long RESERVE = 1 << 20;

    /** Longer than a machine stands still on which tests run. */
    private static final long PROGRAM_MS = 60_000;

    final Path root;
    final Path source;
    final Path mountPoint;
    int userId = USER;
    String path = System.getenv("PATH");

    /** The variables of the user beside the path. */
    final Map<String, String> variables = new HashMap<>();

    boolean hasFuseLibrary = true;
    boolean hasDriver;

    /** Empty: the mode of the recorded device tells. */
    OptionalInt openError = OptionalInt.empty();

    boolean isClockSynchronised = true;
    int javaVersion = 25;

    @Nullable
    Long memoryBytes;

    List<SsdConfig> ssds = List.of();

    @Nullable
    String bind;

    List<String> members = List.of();
    List<String> rails = List.of();

    @Nullable
    Path secretFile;

    @Nullable
    String metrics;

    List<String> mountOptions = List.of();
    SourceSurvey survey = new SourceSurvey(true, 1001, 100_000, 50_000, 64, 0.001, 2e8, null);

    @Nullable
    Running running;

    RecordedMachine(Path directory) throws IOException {
        root = directory.resolve("root");
        source = Files.createDirectory(directory.resolve("source"));
        mountPoint = Files.createDirectory(directory.resolve("point"));
        Files.setPosixFilePermissions(mountPoint, PosixFilePermissions.fromString("rwxrwxrwx"));
        write("dev/fuse", "");
        Files.setPosixFilePermissions(root.resolve("dev/fuse"), PosixFilePermissions.fromString("rw-rw-rw-"));
        Files.createDirectories(root.resolve("sys/fs/fuse/connections"));
        write("etc/fuse.conf", "# settings\nuser_allow_other");
        write("proc/sys/kernel/osrelease", "6.12.48+deb13-amd64");
        write("proc/sys/fs/inotify/max_user_watches", "524288");
        write("proc/sys/fs/inotify/max_user_instances", "128");
        write("proc/meminfo", meminfo(64L << 20, 48L << 20, 0, 0));
        write("proc/self/limits", limits(524_288));
        write("proc/self/status", status(ALL_CAPABILITIES, 0, "100"));
        write("proc/self/cgroup", "0::/");
        write("proc/self/mounts", "/dev/vda1 / ext4 rw,relatime 0 0\ntmpfs /tmp tmpfs rw,nosuid,nodev 0 0");
        write(
                "proc/self/mountinfo",
                "22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw\n30 22 0:30 / /tmp rw - tmpfs tmpfs rw");
    }

    static String meminfo(long totalKib, long availableKib, long swapKib, long swapFreeKib) {
        return "MemTotal: %d kB\nMemAvailable: %d kB\nSwapTotal: %d kB\nSwapFree: %d kB"
                .formatted(totalKib, availableKib, swapKib, swapFreeKib);
    }

    /** The status of this process: both sets of capabilities, whether it may gain none, its further groups. */
    static String status(String capabilities, int noNewPrivileges, String groups) {
        return "Name:\tjava\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t" + groups
                + "\nCapEff:\t" + capabilities + "\nCapBnd:\t" + capabilities + "\nNoNewPrivs:\t" + noNewPrivileges;
    }

    static String limits(long most) {
        return "Limit                     Soft Limit           Hard Limit           Units\n"
                + "Max open files            1024                 " + most + "               files";
    }

    void write(String file, String text) throws IOException {
        Path to = root.resolve(file);
        Files.createDirectories(to.getParent());
        Files.writeString(to, text + "\n");
    }

    void append(String file, String line) throws IOException {
        write(file, Files.readString(root.resolve(file)).strip() + "\n" + line);
    }

    /** The mount runs as process 77 and says this of itself. */
    void runs(String status) throws IOException {
        write("proc/77/limits", limits(524_288));
        write("proc/77/cgroup", "0::/");
        write("proc/77/status", "Uid:\t1000\t1000\nVmRSS: 1048576 kB\nVmSwap: 0 kB");
        running = new Running(77, new JsonMapper().readTree(status));
    }

    List<Finding> findings() {
        Map<String, String> environment = new HashMap<>(variables);
        environment.put("PATH", path);
        Machine machine = new Machine(
                root,
                environment,
                userId,
                library -> library.startsWith("libfuse") ? hasFuseLibrary : hasDriver,
                _ -> openError,
                isClockSynchronised,
                javaVersion,
                PROGRAM_MS);
        Wanted wanted = new Wanted(
                source,
                mountPoint,
                memoryBytes,
                ssds,
                RESERVE,
                bind,
                members,
                secretFile,
                rails,
                metrics,
                mountOptions);
        return Doctor.examine(new Examined(machine, wanted, survey, running));
    }

    /** The findings that are not good. */
    List<Finding> complaints() {
        List<Finding> all = new ArrayList<>(findings());
        all.removeIf(finding -> finding.verdict() == Verdict.OK);
        return all;
    }
}
