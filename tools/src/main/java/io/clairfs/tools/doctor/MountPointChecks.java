package io.clairfs.tools.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountTable.Mount;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The directory where the mount is to be, and who will see it there. */
final class MountPointChecks implements Check {
    private static final String NAME = "mount point";
    private static final String ELSEWHERE = "mount below /tmp: mkdir -p /tmp/train, and give that directory";
    private static final int WRITE = 02;
    private static final int WRITE_AND_ENTER = 03;

    /** Filesystems that the list of allowed types lacks in some versions of fusermount. */
    private static final Set<String> REFUSED =
            Set.of("lustre", "gpfs", "beegfs", "beegfs_nodev", "wekafs", "panfs", "orangefs", "pvfs2", "9p", "proc");

    /** Those of them that it has from version 3.4 on. */
    private static final Set<String> ALLOWED_BY_NEWER = Set.of("lustre", "gpfs");

    /** Those that it has in versions of 2025 and later, and where a distribution has taken that over. */
    private static final Set<String> ALLOWED_BY_LATEST = Set.of("wekafs", "panfs");

    private static final Pattern VERSION = Pattern.compile("version: ([0-9]{1,4})\\.([0-9]{1,4})");

    /** The directories that schedulers and systemd make private. */
    private static final List<String> OFTEN_PRIVATE = List.of("/tmp", "/var/tmp", "/dev/shm");

    @Override
    public List<Finding> look(Examined examined) throws IOException {
        Path point = examined.wanted().mountPoint();
        List<Finding> found = new ArrayList<>();
        if (point != null) {
            if (examined.running() == null) {
                found.add(directory(examined, point));
                found.addAll(filesystem(examined, point));
            }
            found.addAll(privateTmp(examined.machine(), point));
        }
        found.addAll(allowOther(examined));
        return found;
    }

    private static Finding directory(Examined examined, Path point) throws IOException {
        Path source = examined.wanted().source();
        if (!Files.isDirectory(point)) {
            return Finding.problem(NAME, point + " is not a directory", "mkdir -p " + point);
        }
        if (source != null && (source.startsWith(point) || point.startsWith(source))) {
            return Finding.problem(
                    NAME, point + " and the source lie inside one another", "choose a mount point elsewhere");
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(point)) {
            if (entries.iterator().hasNext()) {
                return Finding.problem(NAME, point + " is not empty", "choose an empty directory");
            }
        }
        FileStatus status = Posix.statAt(Posix.AT_FDCWD, point.toString().getBytes(UTF_8), 0);
        int user = examined.machine().userId();
        int bits = status.uid() == user ? status.mode() >> 6 : status.mode();
        boolean writable = user == 0
                || (bits & WRITE_AND_ENTER) == WRITE_AND_ENTER
                || (status.mode() >> 3 & WRITE) != 0; // of a group that this user may be in
        return writable
                ? Finding.ok(NAME, point + " is an empty directory")
                : Finding.problem(
                        NAME,
                        point + " may not be written by user " + user + ", and fusermount then refuses it",
                        "chown it, or choose a directory of your own");
    }

    private static List<Finding> filesystem(Examined examined, Path point) {
        Optional<Mount> under = Mounts.of(examined.machine(), point);
        if (under.isEmpty()) {
            return List.of();
        }
        String type = under.get().type();
        Finding allowed = Finding.ok("filesystem", point + " is on " + type);
        if (!examined.isOrdinaryUser() || !REFUSED.contains(type)) {
            return List.of(allowed);
        }
        boolean isNewer = (ALLOWED_BY_NEWER.contains(type) || ALLOWED_BY_LATEST.contains(type))
                && hasNewerFusermount(examined.machine());
        if (!isNewer) {
            return List.of(Finding.problem(
                    "filesystem",
                    point + " is on " + type + ", where fusermount does not mount for ordinary users",
                    ELSEWHERE));
        }
        return List.of(
                ALLOWED_BY_LATEST.contains(type)
                        ? Finding.note(
                                "filesystem",
                                point + " is on " + type
                                        + ", where only the latest versions of fusermount mount for ordinary users",
                                "if the mount is refused: " + ELSEWHERE)
                        : allowed);
    }

    /** Whether fusermount says that it is of version 3.4 or newer. */
    private static boolean hasNewerFusermount(Machine machine) {
        Path program = Fusermount.find(machine.environment().get("PATH"));
        Matcher version = VERSION.matcher(program == null ? "" : Machine.printed(program, "-V", machine.programMs()));
        if (!version.find()) {
            return false;
        }
        int major = Integer.parseInt(version.group(1));
        return major > 3 || (major == 3 && Integer.parseInt(version.group(2)) >= 4);
    }

    private static List<Finding> privateTmp(Machine machine, Path point) {
        return OFTEN_PRIVATE.stream()
                .filter(point::startsWith)
                .flatMap(directory -> isPart(machine, directory)
                        ? Stream.of(Finding.note(
                                "private /tmp",
                                directory
                                        + " belongs to this job or service alone: no process outside it sees the mount",
                                "mount in the step that trains, or below /run or /local"))
                        : Stream.empty())
                .toList();
    }

    /** Whether a part of another filesystem is mounted at {@code directory}, as with private directories. A whole subvolume of btrfs is no part. */
    private static boolean isPart(Machine machine, String directory) {
        String table = machine.text("proc/self/mountinfo");
        return table != null
                && table.lines()
                        .map(line -> line.split(" ", -1))
                        .filter(fields -> fields.length > 4 && fields[4].equals(directory))
                        .anyMatch(fields -> !fields[3].equals("/") && !isSubvolume(fields));
    }

    /** Whether the options of the filesystem, the last field, name the root of the mount as a subvolume. */
    private static boolean isSubvolume(String[] fields) {
        return Arrays.asList(fields[fields.length - 1].split(",", -1)).contains("subvol=" + fields[3]);
    }

    private static List<Finding> allowOther(Examined examined) {
        boolean asked = examined.wanted().mountOptions().stream().anyMatch(o -> o.startsWith("allow_"));
        if (!examined.isOrdinaryUser() || !asked) {
            return List.of();
        }
        String settings = examined.machine().text("etc/fuse.conf");
        boolean allowed = settings != null
                && settings.lines().anyMatch(line -> line.strip().equals("user_allow_other"));
        return List.of(
                allowed
                        ? Finding.ok("allow_other", "/etc/fuse.conf allows it")
                        : Finding.problem(
                                "allow_other",
                                "/etc/fuse.conf has no line user_allow_other, so fusermount refuses the option",
                                "as root: echo user_allow_other >> /etc/fuse.conf"));
    }

    /** The mounts of a machine, by the directory that they hold. */
    static final class Mounts {
        private Mounts() {}

        /** The mount that holds {@code path}. Of several at one point it is the last, which hides the others, as NFS does below autofs. */
        static Optional<Mount> of(Machine machine, Path path) {
            String table = machine.text("proc/self/mounts");
            return table == null
                    ? Optional.empty()
                    : table.lines()
                            .map(line -> line.split(" ", -1))
                            .filter(fields -> fields.length > 2)
                            .map(fields -> new Mount(fields[0], Path.of(fields[1].replace("\\040", " ")), fields[2]))
                            .filter(mount -> path.startsWith(mount.point()))
                            .reduce((older, newer) -> newer.point().getNameCount()
                                            >= older.point().getNameCount()
                                    ? newer
                                    : older);
        }
    }
}
