package io.clairfs.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One fault at a time in what mounting takes: the device, privileges, fusermount and its library, the mount point. */
final class DoctorMountFaultsTest extends DoctorFixture {
    @Test
    void noDevice() throws Exception {
        Files.delete(machine.root.resolve("dev/fuse"));
        isProblem("/dev/fuse", "nothing can be mounted", "modprobe fuse");
    }

    @Test
    void deviceOfRootAlone() throws Exception {
        Files.setPosixFilePermissions(machine.root.resolve("dev/fuse"), PosixFilePermissions.fromString("rw-------"));
        isProblem("/dev/fuse", "has mode 0600, so user 1000", "chmod 0666 /dev/fuse");
        machine.userId = 0;
        assertThat(machine.complaints()).isEmpty();
    }

    @Test
    void deviceOfAGroup_isForItsMembers() throws Exception {
        Path device = machine.root.resolve("dev/fuse");
        Files.setPosixFilePermissions(device, PosixFilePermissions.fromString("rw-rw----"));
        isProblem("/dev/fuse", "has mode 0660, so user 1000", "chmod 0666 /dev/fuse");
        String group = Files.getAttribute(device, "unix:gid").toString();
        machine.write(
                "proc/self/status",
                RecordedMachine.status(RecordedMachine.ALL_CAPABILITIES, 0, "100 " + group + " 107"));
        assertThat(machine.complaints()).isEmpty();
    }

    @Test
    void deviceThatOpens_isGoodWhateverItsModeSays() throws Exception {
        Files.setPosixFilePermissions(machine.root.resolve("dev/fuse"), PosixFilePermissions.fromString("rw-rw----"));
        machine.openError = OptionalInt.of(0);
        assertThat(machine.complaints()).isEmpty();
        machine.openError = OptionalInt.of(Errno.EACCES);
        isProblem("/dev/fuse", "has mode 0660, so user 1000", "chmod 0666 /dev/fuse");
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EPERM, Errno.EACCES})
    void deviceThatTheContainerMayNotUse(int errno) {
        machine.openError = OptionalInt.of(errno);
        String error = "cannot be opened (" + Posix.describe(errno) + "), whatever its mode";
        isProblem("/dev/fuse", error, "--device /dev/fuse");
        machine.userId = 0;
        isProblem("/dev/fuse", error, "--device /dev/fuse");
    }

    @Test
    void deviceWithoutItsModule() {
        machine.openError = OptionalInt.of(Errno.ENODEV);
        isProblem("/dev/fuse", "cannot be opened (" + Posix.describe(Errno.ENODEV) + ")", "modprobe fuse");
    }

    @Test
    void deviceOfThisMachine_isOpened() throws Exception {
        Machine here = Machine.here();
        assertThat(here.openError().apply(Path.of("/dev/null"))).hasValue(0);
        assertThat(here.openError().apply(directory.resolve("none"))).hasValue(Errno.ENOENT);
        assertThat(here.ofThisProcess("CapBnd")).matches("[0-9a-f]{16}");
        assertThat(here.ofThisProcess("NoNewPrivs")).matches("[01]");
    }

    @Test
    void noRightToMount() throws Exception {
        machine.write("proc/self/status", RecordedMachine.status("00000000a80425fb", 0, "100")); // Docker's
        isProblem("privileges", "fusermount gets no CAP_SYS_ADMIN", "--cap-add SYS_ADMIN");
        machine.userId = 0;
        isProblem("privileges", "root has no CAP_SYS_ADMIN", "--cap-add SYS_ADMIN");
        machine.runs(HEALTHY);
        assertThat(machine.complaints()).as("of a mount that is there").isEmpty();
    }

    @Test
    void noNewPrivileges_areAProblemForUsersAlone() throws Exception {
        machine.write("proc/self/status", RecordedMachine.status(RecordedMachine.ALL_CAPABILITIES, 1, "100"));
        isProblem("privileges", "no_new_privs is set", "allowPrivilegeEscalation: true");
        machine.userId = 0;
        assertThat(machine.complaints()).isEmpty();
    }

    @Test
    void noFusermount() {
        machine.path = directory.toString();
        isProblem("fusermount", "not on the PATH", "apt-get install fuse");
    }

    @Test
    void fusermountWithoutItsMode() throws Exception {
        Path programs = Files.createDirectory(directory.resolve("bin"));
        Path copy = programs.resolve("fusermount");
        Files.writeString(copy, "#!/bin/sh\n");
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
        machine.path = programs.toString();
        isProblem("fusermount", "not setuid root", "chmod 4755 " + copy);
    }

    @Test
    void noLibfuse() {
        machine.hasFuseLibrary = false;
        isProblem("libfuse", "libfuse.so.2 cannot be loaded", "apt-get install libfuse2");
    }

    @Test
    void noConnections() throws Exception {
        Files.delete(machine.root.resolve("sys/fs/fuse/connections"));
        isNote("fusectl", "readers of a mount whose daemon is killed may wait", "mount -t fusectl");
    }

    @Test
    void mountPointThatIsNotThere() throws Exception {
        Files.delete(machine.mountPoint);
        isProblem("mount point", "is not a directory", "mkdir -p " + machine.mountPoint);
    }

    @Test
    void mountPointWithSomethingInIt() throws Exception {
        Files.writeString(machine.mountPoint.resolve("file"), "");
        isProblem("mount point", "is not empty", "empty directory");
    }

    @Test
    void mountPointOfSomebodyElse() throws Exception {
        Files.setPosixFilePermissions(machine.mountPoint, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setAttribute(machine.mountPoint, "unix:uid", 0);
        isProblem("mount point", "may not be written by user 1000", "of your own");
    }

    /** A fusermount that may mount for users, and does this when it is started. */
    private void fusermount(String doThis) throws IOException {
        Path programs = Files.createDirectories(directory.resolve("bin"));
        Path program = Files.writeString(programs.resolve("fusermount"), "#!/bin/sh\n" + doThis + "\n");
        Files.setAttribute(program, "unix:uid", 0);
        Files.setAttribute(program, "unix:mode", 04755);
        machine.path = programs.toString();
    }

    @ParameterizedTest
    @CsvSource({
        "lustre,fusermount version: 2.9.9",
        "gpfs,fusermount3 version: 3.3.0",
        "wekafs,fusermount version: 2.9.9",
        "lustre,",
        "beegfs,fusermount3 version: 3.17.4"
    })
    void mountPointWhereFusermountRefuses(String type, @Nullable String version) throws Exception {
        fusermount(version == null ? "exit 1" : "echo '" + version + "'");
        machine.append("proc/self/mounts", "10.0.0.1@o2ib:/scratch " + directory + " " + type + " rw 0 0");
        isProblem("filesystem", "is on " + type + ", where fusermount does not mount", "mount below /tmp");
        machine.userId = 0;
        assertThat(machine.complaints()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "lustre,fusermount3 version: 3.4.0",
        "gpfs,fusermount3 version: 3.14.0",
        "lustre,fusermount3 version: 4.0.0"
    })
    void mountPointWhereANewerFusermountMounts(String type, String version) throws Exception {
        fusermount("echo '" + version + "'");
        machine.append("proc/self/mounts", "10.0.0.1@o2ib:/scratch " + directory + " " + type + " rw 0 0");
        assertThat(machine.complaints()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"wekafs", "panfs"})
    void mountPointWhereTheLatestFusermountMounts(String type) throws Exception {
        fusermount("echo 'fusermount3 version: 3.14.0'");
        machine.append("proc/self/mounts", "default/scratch " + directory + " " + type + " rw 0 0");
        isNote(
                "filesystem",
                "is on " + type + ", where only the latest versions",
                "if the mount is refused: mount below");
    }

    @Test
    @Timeout(300)
    void programThatDoesNotEnd_printsNothing() throws Exception {
        fusermount("echo 'fusermount3 version: 3.14.0'; exec sleep 600");
        assertThat(Machine.printed(Path.of(machine.path, "fusermount"), "-V", 100))
                .isEmpty();
    }

    @Test
    void privateTmp() throws Exception {
        machine.write(
                "proc/self/mountinfo",
                "30 22 254:1 /var/lib/slurm/4711/_tmp /tmp rw - ext4 /dev/vda1 rw\n22 1 254:1 / / rw - ext4 /dev/vda1 rw");
        isNote("private /tmp", "no process outside it sees the mount", "in the step that trains");
    }

    @Test
    void subvolumeAtTmp_isNotPrivate() throws Exception {
        machine.write(
                "proc/self/mountinfo",
                "22 1 0:30 /@ / rw shared:1 - btrfs /dev/vda2 rw,space_cache=v2,subvolid=256,subvol=/@\n"
                        + "30 22 0:30 /@/tmp /tmp rw shared:2 - btrfs /dev/vda2 rw,space_cache=v2,subvolid=258,subvol=/@/tmp");
        assertThat(machine.complaints()).isEmpty();
        machine.append(
                "proc/self/mountinfo",
                "31 30 0:30 /@/tmp/private-4711 /tmp rw shared:3 - btrfs /dev/vda2 rw,space_cache=v2,subvolid=258,subvol=/@/tmp");
        isNote("private /tmp", "no process outside it sees the mount", "in the step that trains");
    }

    @Test
    void allowOtherThatIsNotAllowed() throws Exception {
        machine.mountOptions = List.of("noatime", "allow_other");
        machine.write("etc/fuse.conf", "# user_allow_other");
        isProblem("allow_other", "no line user_allow_other", "echo user_allow_other >> /etc/fuse.conf");
        machine.userId = 0;
        assertThat(machine.complaints()).isEmpty();
    }
}
