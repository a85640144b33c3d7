package io.clairfs.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.tier.ssd.SsdTier;
import io.clairfs.tools.node.config.SsdConfig;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** One fault at a time of the source and of the SSDs. */
final class DoctorStorageFaultsTest extends DoctorFixture {
    /** For a look that ends when it has seen all. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void sourceThatIsNotThere() {
        machine.survey = SourceSurvey.of(directory.resolve("none"), PATIENCE);
        isProblem("source", "does not exist", "ls ");
    }

    @Test
    void sourceThatDoesNotAnswer() {
        machine.survey = SourceSurvey.failed("does not answer");
        isProblem("source", "does not answer", "ls ");
    }

    @Test
    void sourceWithoutFiles() {
        machine.survey = SourceSurvey.of(machine.source, PATIENCE);
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
        SourceSurvey survey = SourceSurvey.of(machine.source, PATIENCE);
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
        machine.ssds = List.of(new SsdConfig(directory.resolve("ssd"), 1L << 60));
        isProblem("ssd", "not for 1024.0 PiB", "--ssd " + directory.resolve("ssd") + ":");
    }

    @Test
    void ssdWhoseParentIsNotThere_isAProblem_forMountRefusesItToo() {
        Path ssd = directory.resolve("new/ssd");
        machine.ssds = List.of(new SsdConfig(ssd, 1 << 20));
        isProblem(
                "ssd",
                ssd + " cannot be made: " + directory.resolve("new") + " does not exist",
                "mkdir -p " + ssd.getParent());
        assertThatThrownBy(() -> new SsdTier(ssd, machine.source.toString(), 1 << 20, 0, System::nanoTime, _ -> {}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot make SSD directory " + ssd);
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
}
