package io.clairfs.tools.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.fs.mount.Fusermount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The kernel's device, the right to mount, the program that mounts for ordinary users, the library of the control files. */
final class FuseChecks implements Check {
    private static final String DEVICE = "dev/fuse";
    private static final int READ_AND_WRITE = 06;
    private static final String PRIVILEGES = "privileges";

    /** Bit 21 of a set of capabilities. */
    private static final long CAP_SYS_ADMIN = 1L << 21;

    @Override
    public List<Finding> look(Examined examined) throws IOException {
        List<Finding> found = new ArrayList<>();
        found.add(device(examined.machine()));
        if (examined.running() == null) {
            found.addAll(privileges(examined));
        }
        found.add(fusermount(examined));
        found.add(
                examined.machine().hasLibrary().test("libfuse.so.2")
                        ? Finding.ok("libfuse", "libfuse.so.2 is there")
                        : Finding.problem(
                                "libfuse",
                                "libfuse.so.2 cannot be loaded, and the control files need it",
                                "apt-get install libfuse2"));
        found.add(connections(examined));
        return found;
    }

    private static Finding device(Machine machine) throws IOException {
        Path device = machine.root().resolve(DEVICE);
        if (!Files.exists(device)) {
            return Finding.problem(
                    "/dev/fuse",
                    "there is no /dev/fuse, so nothing can be mounted",
                    "modprobe fuse, or start the container with --device /dev/fuse");
        }
        FileStatus status = Posix.statAt(Posix.AT_FDCWD, device.toString().getBytes(UTF_8), 0);
        boolean isAllowed = modeAllows(machine, status);
        int errno = machine.openError().apply(device).orElse(isAllowed ? 0 : Errno.EACCES);
        if (errno == 0) {
            return Finding.ok("/dev/fuse", "can be opened");
        }
        if (errno == Errno.EACCES && !isAllowed) {
            return Finding.problem(
                    "/dev/fuse",
                    String.format("has mode %04o, so user %d may not open it", status.mode() & 07777, machine.userId()),
                    "as root: chmod 0666 /dev/fuse");
        }
        boolean isForbidden = errno == Errno.EACCES || errno == Errno.EPERM;
        return Finding.problem(
                "/dev/fuse",
                "cannot be opened (" + Posix.describe(errno) + ")"
                        + (isForbidden ? ", whatever its mode: the container or the job may not use it" : ""),
                isForbidden
                        ? "start the container with --device /dev/fuse, or have the scheduler allow that device"
                        : "as root: modprobe fuse");
    }

    /** Whether owner, group and mode let this user read and write. Of the three sets of bits, the first that fits counts alone. */
    private static boolean modeAllows(Machine machine, FileStatus status) {
        int bits = status.mode();
        if (status.uid() == machine.userId()) {
            bits >>= 6;
        } else if (isOfGroup(machine, status.gid())) {
            bits >>= 3;
        }
        return machine.userId() == 0 || (bits & READ_AND_WRITE) == READ_AND_WRITE;
    }

    private static boolean isOfGroup(Machine machine, int group) {
        String groups = machine.ofThisProcess("Gid") + " " + machine.ofThisProcess("Groups");
        return Arrays.asList(groups.split("\\s+", -1)).contains(Integer.toUnsignedString(group));
    }

    /** What a mount needs beside the device: the right to mount, which other users than root get by the setuid bit of fusermount. */
    private static List<Finding> privileges(Examined examined) {
        Machine machine = examined.machine();
        List<Finding> found = new ArrayList<>();
        if (examined.isOrdinaryUser() && "1".equals(machine.ofThisProcess("NoNewPrivs"))) {
            found.add(
                    Finding.problem(
                            PRIVILEGES,
                            "no_new_privs is set, so fusermount does not become root and cannot mount",
                            "allowPrivilegeEscalation: true for the pod, no --security-opt no-new-privileges, or NoNewPrivileges=no in the unit"));
        }
        if (lacksRightToMount(machine, examined.isOrdinaryUser() ? "CapBnd" : "CapEff")) {
            found.add(Finding.problem(
                    PRIVILEGES,
                    (examined.isOrdinaryUser() ? "fusermount gets no" : "root has no")
                            + " CAP_SYS_ADMIN here, so the kernel refuses to mount",
                    "start the container with --cap-add SYS_ADMIN, or mount outside it"));
        }
        if (found.isEmpty()) {
            found.add(Finding.ok(PRIVILEGES, "the right to mount is there"));
        }
        return found;
    }

    /** Whether a set of capabilities, in hexadecimal, is without {@code CAP_SYS_ADMIN}; false if it is not known. */
    private static boolean lacksRightToMount(Machine machine, String set) {
        String bits = machine.ofThisProcess(set);
        return bits != null
                && bits.matches("[0-9a-f]{1,16}")
                && (Long.parseUnsignedLong(bits, 16) & CAP_SYS_ADMIN) == 0;
    }

    private static Finding fusermount(Examined examined) {
        @Nullable
        Path program = Fusermount.find(examined.machine().environment().get("PATH"));
        if (program == null) {
            return Finding.problem(
                    "fusermount",
                    "is not on the PATH, so nothing can be unmounted, and only root could mount",
                    "apt-get install fuse");
        }
        if (examined.isOrdinaryUser() && !Fusermount.mayMountForUsers(program)) {
            return Finding.problem(
                    "fusermount",
                    program + " is not setuid root, so user "
                            + examined.machine().userId() + " may not mount",
                    "as root: chown root " + program + " && chmod 4755 " + program);
        }
        return Finding.ok("fusermount", program + (examined.isOrdinaryUser() ? ", setuid root" : ""));
    }

    private static Finding connections(Examined examined) {
        return Files.isDirectory(examined.machine().root().resolve("sys/fs/fuse/connections"))
                ? Finding.ok("fusectl", "/sys/fs/fuse/connections is there")
                : Finding.note(
                        "fusectl",
                        "there is no /sys/fs/fuse/connections: readers of a mount whose daemon is killed may wait until it is unmounted",
                        "as root: mount -t fusectl none /sys/fs/fuse/connections");
    }
}
