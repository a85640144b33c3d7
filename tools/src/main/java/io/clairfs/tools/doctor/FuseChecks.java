package io.clairfs.tools.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.fs.mount.Fusermount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The kernel's device, the program that mounts for ordinary users, the library of the control files. */
final class FuseChecks implements Check {
    private static final String DEVICE = "dev/fuse";
    private static final int READ_AND_WRITE = 06;

    @Override
    public List<Finding> look(Examined examined) throws IOException {
        List<Finding> found = new ArrayList<>();
        found.add(device(examined.machine()));
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
        int bits = status.uid() == machine.userId() ? status.mode() >> 6 : status.mode();
        return machine.userId() == 0 || (bits & READ_AND_WRITE) == READ_AND_WRITE
                ? Finding.ok("/dev/fuse", "can be opened")
                : Finding.problem(
                        "/dev/fuse",
                        String.format(
                                "has mode %04o, so user %d may not open it", status.mode() & 07777, machine.userId()),
                        "as root: chmod 0666 /dev/fuse");
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
