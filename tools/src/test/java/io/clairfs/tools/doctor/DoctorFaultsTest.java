package io.clairfs.tools.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.tier.ssd.SsdTier;
import io.clairfs.tools.doctor.Finding.Verdict;
import io.clairfs.tools.mount.TestPorts;
import io.clairfs.tools.node.config.SsdConfig;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One fault at a time on a good machine: it is named, with a remedy, and nothing else is. */
final class DoctorFaultsTest {
    private static final String HEALTHY = """
            {"mount": "/m", "samples": 100, "ready": true, "index_error": null, "errors": 0, "group": null,
             "reads": {"unwatched_directories": 0, "reports_lost": 0}, "staging": {"pushed": 100, "lost": 0},
             "memory": {"total_bytes": 3221225472, "areas": {"staging": 1073741824}},
             "jobs": [{"name": "train", "in_sync": true, "done": false}],
             "tiers": [{"name": "ssd", "writable": true, "checksum_failures": 0}],
             "peers": [{"name": "b", "alive": true, "trouble": null}]}
            """;

    @TempDir
    private Path directory;

    private RecordedMachine machine;

    @BeforeEach
    void goodMachine() throws IOException {
        machine = new RecordedMachine(directory);
    }

    private void isProblem(String check, String what, String remedy) {
        isOnly(Verdict.PROBLEM, check, what, remedy);
    }

    private void isNote(String check, String what, String remedy) {
        isOnly(Verdict.NOTE, check, what, remedy);
    }

    private void isOnly(Verdict verdict, String check, String what, String remedy) {
        List<Finding> complaints = machine.complaints();
        assertThat(complaints).hasSize(1);
        Finding finding = complaints.getFirst();
        assertThat(finding.verdict()).isEqualTo(verdict);
        assertThat(finding.check()).isEqualTo(check);
        assertThat(finding.what()).contains(what);
        assertThat(finding.remedy()).contains(remedy);
        assertThat(Doctor.hasProblem(machine.findings())).isEqualTo(verdict == Verdict.PROBLEM);
    }

    @Test
    void goodMachine_beforeAndDuringAMount_hasNothingToSay() throws Exception {
        machine.mountOptions = List.of("allow_other");
        machine.memoryBytes = 8L << 30;
        machine.bind = freePorts();
        machine.members = List.of("localhost");
        assertThat(machine.complaints()).isEmpty();
        assertThat(DoctorText.of(machine.findings(), false, Integer.MAX_VALUE))
                .singleElement()
                .asString()
                .startsWith("all is well: ");
        machine.runs(HEALTHY);
        assertThat(machine.complaints()).isEmpty();
    }

    @Test
    void addressThatIsLeftToTheMount_isNoProblem() throws Exception {
        machine.bind = "auto:" + freePorts().replaceFirst(".*:", "");
        machine.members = List.of("localhost");
        assertThat(machine.complaints()).isEmpty();
        machine.members = List.of("slurm");
        assertThat(machine.complaints()).isEmpty();
    }

    /** A card below this bridge. */
    private void card(String name, String bridge, String device, String state) throws IOException {
        String at = "sys/devices/" + bridge + "/" + device;
        machine.write(at + "/numa_node", "1");
        machine.write("sys/class/net/" + name + "/operstate", state);
        machine.write("sys/class/net/" + name + "/speed", "100000");
        Files.createSymbolicLink(
                machine.root.resolve("sys/class/net/" + name + "/device"),
                machine.root.resolve(at).toAbsolutePath());
    }

    @Test
    void severalNetworkCards_areShownWithWhatIsNearThem() throws Exception {
        card("none0", "pci0000:10/0000:10:01.0", "0000:11:00.0", "up");
        card("none1", "pci0000:20/0000:20:01.0", "0000:21:00.0", "down");
        String accelerator = "sys/devices/pci0000:20/0000:20:01.0/0000:22:00.0";
        machine.write(accelerator + "/class", "0x030200");
        machine.write(accelerator + "/vendor", "0x10de");
        Files.createDirectories(machine.root.resolve("sys/bus/pci/devices"));
        Files.createSymbolicLink(
                machine.root.resolve("sys/bus/pci/devices/0000:22:00.0"),
                machine.root.resolve(accelerator).toAbsolutePath());
        machine.bind = freePorts();
        assertThat(machine.findings().stream()
                        .filter(finding -> finding.check().equals("rails"))
                        .map(Finding::what))
                .containsExactly(
                        "none0, 100 Gbit/s, NUMA node 1, no address",
                        "none1, 100 Gbit/s, NUMA node 1, nearest to the accelerator 0000:22:00.0, no link");
        assertThat(machine.complaints()).isEmpty();
    }

    @Test
    void settingOfThisKernel_isReadWhole() throws Exception {
        Process cat = new ProcessBuilder("cat", "/proc/sys/kernel/pid_max").start();
        String value = new String(cat.getInputStream().readAllBytes(), UTF_8).strip();
        assertThat(Machine.here().number("proc/sys/kernel/pid_max")).hasValue(Long.parseLong(value));
    }

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
    @Timeout(60)
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

    @Test
    void fewWatches() throws Exception {
        machine.write("proc/sys/fs/inotify/max_user_watches", "1000");
        isProblem("watches", "allows 1,000 and the source has 1,001 directories", "max_user_watches=524288");
    }

    @Test
    void allQueuesInUse() throws Exception {
        machine.write("proc/sys/fs/inotify/max_user_instances", "3");
        machine.write("proc/501/status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000");
        machine.write("proc/502/status", "Name:\tx\nUid:\t0\t0\t0\t0");
        for (int process = 501; process <= 502; process++) {
            Path descriptors = Files.createDirectory(machine.root.resolve("proc/" + process + "/fd"));
            for (int fd = 0; fd < 3; fd++) {
                Files.createSymbolicLink(descriptors.resolve(Integer.toString(fd)), Path.of("anon_inode:inotify"));
            }
        }
        isProblem("inotify", "all 3 queues of this user are in use", "max_user_instances=12");
        machine.userId = 65_534;
        assertThat(machine.complaints()).isEmpty();
        machine.userId = 0;
        assertThat(machine.complaints().getFirst().remedy()).as("for root").startsWith("sysctl -w ");
    }

    @Test
    void fewDescriptors() throws Exception {
        machine.write("proc/self/limits", RecordedMachine.limits(1024));
        isNote("descriptors", "may have 1024", "LimitNOFILE");
        machine.write("proc/self/limits", RecordedMachine.limits(256));
        isProblem("descriptors", "too few", "LimitNOFILE");
    }

    @Test
    void memoryThatDoesNotFitIntoAGroupOfVersion2() throws Exception {
        machine.memoryBytes = 16L << 30;
        machine.write("proc/self/cgroup", "0::/job/step");
        machine.append("proc/self/mountinfo", "35 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
        machine.write("sys/fs/cgroup/job/memory.max", Long.toString(8L << 30));
        isProblem("memory", "the control group leaves 8.0 GiB, and --memory 16.0 GiB does not fit", "--memory ");
    }

    @Test
    void memoryThatDoesNotFitIntoAGroupOfVersion1() throws Exception {
        machine.memoryBytes = 16L << 30;
        machine.write("proc/self/cgroup", "4:memory:/slurm/job_7/step_0");
        machine.append("proc/self/mountinfo", "35 22 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
        machine.write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", Long.toString(4L << 30));
        isProblem("memory", "the control group leaves 4.0 GiB", "--memory ");
    }

    @Test
    void littleMemory() throws Exception {
        machine.write("proc/meminfo", RecordedMachine.meminfo(64L << 20, 512L << 10, 0, 0));
        isNote("memory", "only 512.0 MiB are free", "--ssd");
    }

    @Test
    void daemonThatMayOutgrowItsGroup() throws Exception {
        machine.runs(HEALTHY);
        machine.write("proc/77/cgroup", "0::/job");
        machine.append("proc/self/mountinfo", "35 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
        machine.write("sys/fs/cgroup/job/memory.max", Long.toString(3L << 30));
        machine.write("sys/fs/cgroup/job/memory.current", Long.toString(5L << 29));
        isProblem(
                "memory", "may take 1.0 GiB more, but 512.0 MiB are left: the kernel may kill it", "smaller --memory");
    }

    @Test
    void daemonInSwap() throws Exception {
        machine.runs(HEALTHY);
        machine.write("proc/77/status", "VmRSS: 1048576 kB\nVmSwap: 1048576 kB");
        isProblem("swap", "1.0 GiB of the daemon lie in swap", "swapoff -a");
    }

    @Test
    void muchInSwapBeforeAMount() throws Exception {
        machine.write("proc/meminfo", RecordedMachine.meminfo(64L << 20, 48L << 20, 8L << 20, 4L << 20));
        isNote("swap", "4.0 GiB of memory lie in swap", "smaller --memory");
    }

    @Test
    void oldKernel() throws Exception {
        machine.write("proc/sys/kernel/osrelease", "4.18.0-553.el8.x86_64");
        isProblem("kernel", "older than 5.4", "newer kernel");
    }

    @ParameterizedTest
    @CsvSource({"5.4.0-150-generic,openat2", "5.14.0-503.el9.x86_64,cachestat"})
    void kernelWithoutSomething(String release, String what) throws Exception {
        machine.write("proc/sys/kernel/osrelease", release);
        isNote("kernel", what, "newer kernel");
    }

    @Test
    void multiGenerationLruAndLittleMemory() throws Exception {
        machine.write("sys/kernel/mm/lru_gen/enabled", "0x0007");
        assertThat(machine.complaints()).isEmpty();
        machine.write("proc/meminfo", RecordedMachine.meminfo(64L << 20, 2L << 20, 0, 0));
        isNote("lru_gen", "may take staged pages back", "lru_gen/enabled");
    }

    @Test
    void sourceThatIsNotThere() {
        machine.survey = SourceSurvey.of(directory.resolve("none"), Duration.ofMillis(10));
        isProblem("source", "does not exist", "ls ");
    }

    @Test
    void sourceThatDoesNotAnswer() {
        machine.survey = SourceSurvey.failed("does not answer");
        isProblem("source", "does not answer", "ls ");
    }

    @Test
    void sourceWithoutFiles() {
        machine.survey = SourceSurvey.of(machine.source, Duration.ofSeconds(10));
        isProblem("source", "has no files", "directory of the dataset");
    }

    @Test
    void sourceWithASlowAnswer() {
        machine.survey = new SourceSurvey(false, 9, 99, 100, 16, 0.08, 1e6, null);
        isNote("source", "first byte after 80.0 ms", "--loaders 64");
    }

    @Test
    void directoryOfTheSourceThatCannotBeListed() {
        machine.survey = new SourceSurvey(true, 9, 99, 100, 16, 0.001, 1e6, "/data/b may not be listed by this user");
        isProblem("source", "/data/b may not be listed", "chmod");
    }

    @Test
    void surveyOfARealDirectory_countsAndReads() throws Exception {
        for (String name : List.of("a/1", "a/2", "b/3")) {
            Files.createDirectories(machine.source.resolve(name).getParent());
            Files.write(machine.source.resolve(name), new byte[100_000]);
        }
        SourceSurvey survey = SourceSurvey.of(machine.source, Duration.ofSeconds(60));
        assertThat(survey.isWhole()).isTrue();
        assertThat(survey.directories()).isEqualTo(3);
        assertThat(survey.files()).isEqualTo(3);
        assertThat(survey.filesRead()).isEqualTo(3);
        assertThat(survey.bytesPerSecond()).isPositive();
        assertThat(survey.latencySeconds()).isPositive();
    }

    /** Files as a survey keeps them, most of which have gone since. */
    private List<Path> mostlyUnreadable() throws IOException {
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < 15; i++) {
            files.add(machine.source.resolve("gone-" + i));
        }
        files.add(Files.write(machine.source.resolve("file"), new byte[100_000]));
        return files;
    }

    @Test
    void survey_passesOverFilesThatCannotBeRead() throws Exception {
        List<Path> files = mostlyUnreadable();
        assertThat(SourceSurvey.latency(files)).isPositive();
        SourceSurvey.Reading reading = new SourceSurvey.Reading(
                files, System.nanoTime() + Duration.ofMinutes(1).toNanos());
        assertThat(reading.bytesPerSecond()).isPositive();
        assertThat(reading.done()).isEqualTo(1);
    }

    @Test
    void surveyOfFilesThatCannotBeRead_hasNoSpeed() throws Exception {
        List<Path> files = mostlyUnreadable().subList(0, 15);
        assertThat(SourceSurvey.latency(files)).isZero();
        SourceSurvey.Reading reading = new SourceSurvey.Reading(
                files, System.nanoTime() + Duration.ofMinutes(1).toNanos());
        assertThat(reading.bytesPerSecond()).isZero();
        assertThat(reading.done()).isZero();
    }

    @Test
    void sourceWhoseFilesCannotBeRead() {
        machine.survey = new SourceSurvey(true, 9, 99, 100, 0, 0, 0, null);
        isProblem("source", "no file of " + machine.source + " could be read", "cat");
    }

    /** Makes a file larger than the disk; it is sparse, and takes no room. */
    private static void fill(Path tier) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(tier.resolve("1.data").toFile(), "rw")) {
            file.setLength(1L << 40);
        }
    }

    @Test
    void ssdThatAnEarlierMountHasFilled() throws Exception {
        machine.write("proc/self/mounts", "/dev/vda1 / ext4 rw 0 0");
        Path ssd = directory.resolve("ssd");
        new SsdTier(ssd, machine.source.toString(), 1 << 20, 0, System::nanoTime, _ -> {}).close();
        Path ours;
        try (Stream<Path> directories = Files.list(ssd)) {
            ours = directories.findFirst().orElseThrow();
        }
        machine.ssds = List.of(new SsdConfig(ssd, Files.getFileStore(ssd).getUsableSpace() + (1L << 39)));
        fill(Files.createDirectory(ssd.resolve("0".repeat(32)))); // another source's
        isProblem("ssd", "has room for", "--ssd " + ssd + ":");
        fill(ours);
        assertThat(machine.complaints()).isEmpty();
    }

    @Test
    void ssdBelowTwoMountsAtOnePoint_isOnTheNewer() throws Exception {
        machine.append("proc/self/mounts", "auto.data " + directory + " autofs rw,direct 0 0");
        machine.append("proc/self/mounts", "server:/export " + directory + " nfs4 rw 0 0");
        machine.ssds = List.of(new SsdConfig(directory.resolve("ssd"), 1 << 20));
        isProblem("ssd", "is on nfs4, a network filesystem", "local disk");
    }

    @Test
    void ssdWithoutRoom() {
        machine.ssds = List.of(new SsdConfig(directory.resolve("new/ssd"), 1L << 60));
        isProblem("ssd", "not for 1024.0 PiB", "--ssd " + directory.resolve("new/ssd") + ":");
    }

    @Test
    void ssdOnANetworkFilesystem() throws Exception {
        machine.append("proc/self/mounts", "server:/export " + directory + " nfs4 rw 0 0");
        machine.ssds = List.of(new SsdConfig(directory.resolve("ssd"), 1 << 20));
        isProblem("ssd", "is on nfs4, a network filesystem", "local disk");
    }

    @Test
    void ssdInMemory() {
        machine.ssds = List.of(new SsdConfig(directory.resolve("ssd"), 1 << 20)); // below /tmp, a tmpfs there
        isNote("ssd", "is on tmpfs, so it takes memory", "--memory");
    }

    @Test
    void ssdThatCannotBeWritten() {
        machine.ssds = List.of(new SsdConfig(Path.of("/proc/clairfs"), 1 << 20));
        isProblem("ssd", "cannot be written", "another directory");
    }

    @Test
    void ssdThatIsAFile() throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "");
        machine.ssds = List.of(new SsdConfig(file, 1 << 20));
        isProblem("ssd", "is not a directory", "another directory");
    }

    @Test
    void ssdSlowerThanTheSource() throws Exception {
        machine.write("proc/self/mounts", "/dev/vda1 / ext4 rw 0 0\ns3fs " + machine.source + " fuse.s3fs rw 0 0");
        machine.survey = new SourceSurvey(true, 9, 99, 100, 16, 0.001, 1e15, null);
        machine.ssds = List.of(new SsdConfig(directory.resolve("ssd"), 1 << 20));
        isNote("ssd", "MB/s of the source", "leave --ssd away");
        assertThat(directory.resolve("ssd")).doesNotExist();
    }

    @Test
    void portOfTheGroupInUse() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            machine.bind = "127.0.0.1:" + taken.getLocalPort();
            isProblem("bind", "port " + taken.getLocalPort() + " of 127.0.0.1 is in use", "ss -ltnp");
            machine.bind = "127.0.0.1:" + (taken.getLocalPort() - 1); // samples are served on the next
            assertThat(machine.complaints())
                    .anyMatch(f -> f.what().contains("port " + taken.getLocalPort() + " of 127.0.0.1 is in use")
                            || f.what().contains("port " + (taken.getLocalPort() - 1)));
        }
    }

    @Test
    void portOfTheMetricsInUse() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            machine.metrics = "127.0.0.1:" + taken.getLocalPort();
            isProblem("metrics", "is in use", "another port");
        }
    }

    @Test
    void hostThatNobodyKnows() throws Exception {
        machine.bind = freePorts();
        machine.members = List.of("localhost", "node-7.invalid:5701");
        isProblem("members", "no name server knows node-7.invalid", "getent hosts node-7.invalid");
    }

    @Test
    void addressOfAnotherMachine() throws Exception {
        machine.bind = "192.0.2.1:5701";
        machine.secretFile = secret("0123456789abcdef", "rw-------");
        isProblem("bind", "192.0.2.1 is not an address of this machine", "hostname -I");
    }

    /** An address with two free ports in a row. */
    private static String freePorts() throws IOException {
        return "127.0.0.1:" + TestPorts.free(2);
    }

    private Path secret(String text, String mode) throws IOException {
        Path file = Files.writeString(directory.resolve("secret"), text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
        return file;
    }

    @Test
    void secretThatIsShort() throws Exception {
        machine.bind = freePorts();
        machine.secretFile = secret("short", "rw-------");
        isProblem("secret", "16 to 4096 bytes", "16 bytes or more");
    }

    @Test
    void secretThatIsOpen() throws Exception {
        machine.bind = freePorts();
        machine.secretFile = secret("0123456789abcdef", "rw-r--r--");
        isNote("secret", "open to others", "chmod 600");
    }

    @Test
    void clockThatNobodySets() throws Exception {
        machine.isClockSynchronised = false;
        assertThat(machine.complaints()).as("alone").isEmpty();
        machine.bind = freePorts();
        isNote("clock", "not synchronised", "timedatectl set-ntp true");
    }

    @Test
    void oldJava() {
        machine.javaVersion = 21;
        isProblem("java", "release 21 is older than 25", "JDK of 25");
    }

    @Test
    void temporaryDirectoryThatRefusesPrograms() throws Exception {
        machine.append(
                "proc/self/mounts", "none " + System.getProperty("java.io.tmpdir") + " ext4 rw,nosuid,noexec 0 0");
        isProblem("noexec", "a library has to be loaded from there", "-Djava.io.tmpdir=");
    }

    @Test
    void graphicsProcessorWithoutItsDriver() throws Exception {
        machine.write("dev/nvidiactl", "");
        isNote("gpu", "libcuda.so.1 cannot be loaded", "--gpus all");
        machine.hasDriver = true;
        assertThat(machine.complaints()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            "index_error": null          | "index_error": "b cannot be listed" | index     | b cannot be listed, so no job starts
            "unwatched_directories": 0   | "unwatched_directories": 7          | watches   | 7 directories could not be watched
            "in_sync": true              | "in_sync": false                    | job train | do not follow its order
            "writable": true             | "writable": false                   | ssd       | takes no samples now
            "checksum_failures": 0       | "checksum_failures": 2              | ssd       | 2 samples were damaged
            "alive": true, "trouble": null | "alive": false, "trouble": "silent" | peer    | b does not answer: silent
            """)
    void troubleOfAMountThatRuns(String good, String bad, String check, String what) throws Exception {
        machine.runs(HEALTHY.replace(good, bad));
        assertThat(machine.complaints()).singleElement().satisfies(finding -> {
            assertThat(finding.verdict()).isEqualTo(Verdict.PROBLEM);
            assertThat(finding.check()).isEqualTo(check);
            assertThat(finding.what()).contains(what);
            assertThat(finding.remedy()).isNotEmpty();
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            "reports_lost": 0 | "reports_lost": 3 | reports | overflowed 3 times
            "lost": 0}        | "lost": 60}       | staging | took back 60 of 100
            "errors": 0       | "errors": 4       | errors  | 4 since the mount
            """)
    void noteOfAMountThatRuns(String good, String bad, String check, String what) throws Exception {
        machine.runs(HEALTHY.replace(good, bad));
        assertThat(machine.complaints()).singleElement().satisfies(finding -> {
            assertThat(finding.verdict()).isEqualTo(Verdict.NOTE);
            assertThat(finding.check()).isEqualTo(check);
            assertThat(finding.what()).contains(what);
        });
    }

    @Test
    void text_hasTheWorstFirst_andNoMarksOfItsOwnFromNames() {
        List<Finding> findings = List.of(
                Finding.ok("a", "fine"),
                Finding.note("b", "a |@ b @| c", "do"),
                Finding.problem("c", "bad", "type\nthis"));
        assertThat(DoctorText.of(findings, false, Integer.MAX_VALUE))
                .containsExactly(
                        "@|red,bold problem|@  c            bad; @|bold type this|@",
                        "@|yellow note   |@  b            a | @ b @ | c; @|bold do|@",
                        "3 checks: 1 problem, 1 note");
    }

    @Test
    void text_isBrokenBetweenWordsWhereTheTerminalIsNarrow() {
        List<Finding> findings = List.of(Finding.problem(
                "watches", "inotify allows 2 and the source has 3 directories", "as root: sysctl -w this=1"));
        assertThat(DoctorText.of(findings, false, 60))
                .containsExactly(
                        "@|red,bold problem|@  watches      inotify allows 2 and the source has 3",
                        "                      directories",
                        "                      @|bold as root: sysctl -w this=1|@",
                        "1 checks: 1 problem, 0 notes");
    }
}
