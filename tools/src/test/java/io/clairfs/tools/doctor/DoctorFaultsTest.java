package io.clairfs.tools.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.tools.doctor.Finding.Verdict;
import io.clairfs.tools.mount.TestPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One fault at a time on a good machine or of a mount that runs: it is named, with a remedy, and nothing else is. */
final class DoctorFaultsTest extends DoctorFixture {
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
        machine.variables.put("SLURM_JOB_NODELIST", "localhost");
        assertThat(machine.complaints()).as("a job on this machine alone").isEmpty();
        machine.variables.clear();
        machine.secretFile = secret("0123456789abcdef", "rw-------");
        assertThat(machine.complaints()).as("outside the job").isEmpty();
    }

    @Test
    void groupWithoutASecret_whoseMembersAreKnownElsewhere_mayNeedOne() throws Exception {
        machine.bind = "auto:" + freePorts().replaceFirst(".*:", "");
        for (String members : List.of("slurm", "kubernetes:clairfs.invalid")) {
            machine.members = List.of(members);
            isNote("secret", "no other member is known here", "base64 > FILE");
        }
    }

    @Test
    void groupWithoutASecret_whileNoMemberIsKnown_isRefused_asItsMountIs() throws Exception {
        machine.bind = "auto:" + freePorts().replaceFirst(".*:", "");
        machine.members = List.of("node-7.invalid");
        assertThat(machine.complaints())
                .extracting(Finding::check, Finding::verdict)
                .containsExactly(
                        tuple("bind", Verdict.NOTE),
                        tuple("members", Verdict.PROBLEM),
                        tuple("secret", Verdict.PROBLEM));
        assertThat(machine.complaints().getFirst().what()).startsWith("auto stands for no address yet");
        assertThat(machine.complaints().getLast().what()).contains("a mount without --secret-file is refused");
        machine.secretFile = secret("0123456789abcdef", "rw-------");
        assertThat(machine.complaints()).extracting(Finding::check).containsExactly("bind", "members");
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
        isProblem(
                "inotify",
                "all 3 queues of this user are in use: closes are not reported, and every sixteenth sample is left",
                "max_user_instances=12");
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
    void groupOnLoopbackWithARailBeyondIt_needsASecret_asItsMountDoes() throws Exception {
        machine.bind = freePorts();
        machine.rails = List.of("127.0.0.1", "192.0.2.7");
        isProblem("secret", "--rail serves samples on 192.0.2.7", "base64 > FILE");
        machine.rails = List.of("127.0.0.1", "::1", "[::1]");
        assertThat(machine.complaints()).isEmpty();
        machine.rails = List.of("192.0.2.7");
        machine.secretFile = secret("0123456789abcdef", "rw-------");
        assertThat(machine.complaints()).isEmpty();
    }

    @Test
    void groupOnLoopbackWithTheRailsOfItsCards_needsASecretWhereOneHasAnAddress() throws Exception {
        machine.bind = freePorts();
        machine.rails = List.of("auto");
        assertThat(machine.complaints()).as("no card").isEmpty();
        NetworkInterface here = NetworkInterface.networkInterfaces()
                .filter(each -> each.inetAddresses()
                        .anyMatch(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress()))
                .findFirst()
                .orElse(null);
        assumeTrue(here != null, "this machine has no address beyond loopback");
        card(here.getName(), "pci0000:10/0000:10:01.0", "0000:11:00.0", "down");
        assertThat(machine.complaints()).as("no link").isEmpty();
        machine.write("sys/class/net/" + here.getName() + "/operstate", "up");
        isProblem("secret", "--rail serves samples on ", "base64 > FILE");
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

    @Test
    void diskOfAMountThatStillListsItsDataset_isNoTrouble() throws Exception {
        machine.runs(HEALTHY.replace("\"writable\": true", "\"writable\": false, \"recovered\": false"));
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
