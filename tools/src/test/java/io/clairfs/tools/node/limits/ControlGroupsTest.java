package io.clairfs.tools.node.limits;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recorded control groups of machines with both versions, from schedulers, systemd and containers. */
final class ControlGroupsTest {
    private static final long GIB = 1L << 30;
    private static final String V1 = "sys/fs/cgroup/memory";
    private static final String V1_MOUNT =
            "35 31 0:32 / /sys/fs/cgroup/memory rw,nosuid,nodev,noexec,relatime shared:16 - cgroup cgroup rw,memory";
    private static final String V2 = "sys/fs/cgroup";
    private static final String V2_MOUNT =
            "28 22 0:25 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot";
    private static final String UNLIMITED_V1 = "9223372036854771712";

    @TempDir
    private Path root;

    @BeforeEach
    void meminfo() throws IOException {
        write(
                "proc/meminfo",
                "MemTotal:       65799392 kB\nMemFree:         1000000 kB\nMemAvailable:   62914560 kB\n");
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text + "\n");
    }

    private void process(String groups, String... mounts) throws IOException {
        write("proc/self/cgroup", groups);
        write("proc/self/mountinfo", String.join("\n", mounts));
    }

    @Test
    void nameThatIsNotUtf8_hidesNoLimit() throws IOException {
        process("0::/job", V2_MOUNT);
        Path mounts = root.resolve("proc/self/mountinfo");
        String odd = "99 22 8:1 / /media/caf\u00e9 rw,relatime - ext4 /dev/sda1 rw\n";
        Files.writeString(mounts, odd + Files.readString(mounts), StandardCharsets.ISO_8859_1);
        write(V2 + "/job/memory.max", Long.toString(8 * GIB));
        write(V2 + "/job/memory.current", "0");
        assertThat(new ControlGroups(root, "self").availableBytes()).isLessThanOrEqualTo(8 * GIB);
    }

    private void first(String group, String limit, long used, long pages) throws IOException {
        write(V1 + group + "/memory.limit_in_bytes", limit);
        write(V1 + group + "/memory.usage_in_bytes", Long.toString(used));
        write(
                V1 + group + "/memory.stat",
                "cache " + pages + "\ninactive_file 0\nactive_file 0\ntotal_cache " + pages + "\ntotal_inactive_file "
                        + pages / 2 + "\ntotal_active_file " + (pages - pages / 2));
    }

    private void second(String group, String most, String high, long used, long pages) throws IOException {
        write(V2 + group + "/memory.max", most);
        write(V2 + group + "/memory.high", high);
        write(V2 + group + "/memory.current", Long.toString(used));
        write(
                V2 + group + "/memory.stat",
                "anon 4096\nfile " + pages + "\ninactive_file " + pages / 2 + "\nactive_file " + (pages - pages / 2));
    }

    private long available() {
        return new ControlGroups(root, "self").availableBytes();
    }

    // Promise M5
    @Test
    void slurmVersion1_limitIsOfTheJob_twoLevelsAboveTheTask() throws Exception {
        process(
                "5:memory:/slurm/uid_1000/job_77/step_0/task_0\n4:cpuset:/slurm/uid_1000/job_77/step_0\n1:name=systemd:/system.slice",
                "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset",
                V1_MOUNT);
        first("", UNLIMITED_V1, 40 * GIB, 0);
        first("/slurm/uid_1000", UNLIMITED_V1, 20 * GIB, 0);
        first("/slurm/uid_1000/job_77", Long.toString(16 * GIB), 3 * GIB, GIB);
        first("/slurm/uid_1000/job_77/step_0", Long.toString(16 * GIB), 2 * GIB, 0);
        first("/slurm/uid_1000/job_77/step_0/task_0", UNLIMITED_V1, GIB, 0);
        assertThat(available()).isEqualTo(14 * GIB);
        assertThat(MachineMemory.of(root).availableBytes()).isEqualTo(14 * GIB);
        assertThat(MachineMemory.of(root).isLimited()).isTrue();
    }

    // Promise M5
    @Test
    void slurmVersion2_limitIsOfTheJob_fourLevelsAboveTheTask() throws Exception {
        String job = "/system.slice/slurmstepd.scope/job_77";
        process("0::" + job + "/step_0/user/task_0", V2_MOUNT);
        second(job, Long.toString(64L << 30), "max", 10 * GIB, 4 * GIB);
        second(job + "/step_0", "max", "max", 9 * GIB, 4 * GIB);
        second(job + "/step_0/user", "max", "max", 8 * GIB, 4 * GIB);
        second(job + "/step_0/user/task_0", "max", "max", 8 * GIB, 4 * GIB);
        assertThat(available()).isEqualTo(58 * GIB);
    }

    @Test
    void systemdVersion2_sliceAboveHasLessLeftThanTheService() throws Exception {
        process("0::/user.slice/user-1000.slice/run-5.scope", V2_MOUNT);
        second("/user.slice", "max", "max", 30 * GIB, 0);
        second("/user.slice/user-1000.slice", Long.toString(8 * GIB), "max", 7 * GIB, 0);
        second("/user.slice/user-1000.slice/run-5.scope", Long.toString(4 * GIB), "max", GIB, 0);
        assertThat(available()).isEqualTo(GIB);
    }

    @Test
    void memoryHigh_isALimitToo() throws Exception {
        process("0::/a/b", V2_MOUNT);
        second("/a", "max", Long.toString(3 * GIB), GIB, 0);
        second("/a/b", Long.toString(5 * GIB), "max", GIB, 0);
        assertThat(available()).isEqualTo(2 * GIB);
    }

    @Test
    void bothVersions_theLeastOfThemCounts() throws Exception {
        process(
                "4:memory:/job\n0::/job",
                V1_MOUNT,
                "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw");
        first("/job", Long.toString(2 * GIB), 0, 0);
        assertThat(available()).isEqualTo(2 * GIB);
        write("sys/fs/cgroup/unified/job/memory.max", Long.toString(GIB));
        assertThat(available()).isEqualTo(GIB);
    }

    @Test
    void containerWithoutNamespaceOfItsOwn_itsGroupIsAtTheMountPoint() throws Exception {
        process(
                "4:memory:/docker/4af1/job",
                "35 31 0:32 /docker/4af1 /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory");
        first("", Long.toString(4 * GIB), GIB, 0);
        first("/job", Long.toString(GIB), 0, 0);
        assertThat(available()).isEqualTo(GIB);
        process(
                "4:memory:/elsewhere/job",
                "35 31 0:32 /docker/4af1 /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory");
        assertThat(available()).as("of what is seen").isEqualTo(3 * GIB);
    }

    @Test
    void containerWithANamespaceOfItsOwn_seesItsGroupAsTheRoot() throws Exception {
        process("0::/", V2_MOUNT);
        second("", Long.toString(4 * GIB), "max", GIB, 0);
        assertThat(available()).isEqualTo(3 * GIB);
        process("0::/../../other", V2_MOUNT);
        assertThat(available()).as("entered from outside").isEqualTo(3 * GIB);
    }

    @Test
    void nameWithBlanksInTheMountPoint_isFound() throws Exception {
        process("0::/job", "28 22 0:25 / /sys/fs/c\\040group rw - cgroup2 cgroup2 rw");
        write("sys/fs/c group/job/memory.max", Long.toString(GIB));
        assertThat(available()).isEqualTo(GIB);
    }

    @Test
    void noLimitAnywhere_isTheMachines() throws Exception {
        process("4:memory:/\n0::/", V1_MOUNT);
        first("", UNLIMITED_V1, 40 * GIB, 0);
        assertThat(available()).isEqualTo(Long.MAX_VALUE);
        assertThat(MachineMemory.of(root)).isEqualTo(new MachineMemory(65_799_392L * 1024, 60 * GIB, Long.MAX_VALUE));
        assertThat(MachineMemory.of(root).isLimited()).isFalse();
    }

    @Test
    void usedUpGroup_leavesNothing() throws Exception {
        process("0::/job", V2_MOUNT);
        second("/job", Long.toString(GIB), "max", 2 * GIB, 0);
        assertThat(available()).isZero();
    }

    @Test
    void whatCannotBeRead_isNoLimit() throws Exception {
        assertThat(available()).isEqualTo(Long.MAX_VALUE);
        process("nonsense\n4:memory\n:::\n0::/job", "1 2 3", "28 22 0:25 / /sys/fs/cgroup rw - cgroup2", V2_MOUNT);
        write(V2 + "/job/memory.max", "much");
        assertThat(available()).isEqualTo(Long.MAX_VALUE);
    }
}
