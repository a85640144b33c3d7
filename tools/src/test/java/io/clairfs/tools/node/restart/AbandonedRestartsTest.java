package io.clairfs.tools.node.restart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What mounts left of which all processes were killed. */
@Timeout(120)
final class AbandonedRestartsTest {
    private static final String HERE = "@here.restart";
    private static final Duration OLD = Duration.ofHours(25);

    @TempDir
    Path state;

    private Path left(String name, Duration age, String... files) throws IOException {
        Path made = Files.createDirectory(state.resolve(name));
        for (String each : files) {
            Files.writeString(made.resolve(each), "left");
        }
        return aged(made, age);
    }

    private static Path aged(Path directory, Duration age) throws IOException {
        FileTime then = FileTime.from(Instant.now().minus(age));
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Files.setLastModifiedTime(each, then);
            }
        }
        return directory;
    }

    // Promise D6
    @Test
    void whatNobodyUsesForADay_isRemoved() throws IOException {
        Path old = left("tmp-job1" + HERE, OLD, "lock", "mount", "listing");
        AbandonedRestarts.remove(state, HERE);
        assertThat(old).doesNotExist();
    }

    @Test
    void whatIsYoung_orOfAnotherHost_orOfAVersionWithoutLocks_stays() throws IOException {
        Path young = left("tmp-job1" + HERE, Duration.ofHours(23), "lock", "mount");
        Path supervised = left("tmp-job2" + HERE, OLD, "lock", "mount", "restarts");
        Files.writeString(supervised.resolve("restarts"), "a death just now");
        Path there = left("tmp-job1@there.restart", OLD, "lock", "mount");
        Path before = left("tmp-job3" + HERE, OLD, "mount");
        AbandonedRestarts.remove(state, HERE);
        AbandonedRestarts.remove(state.resolve("none"), HERE);
        assertThat(List.of(young, supervised, there, before))
                .allSatisfy(each -> assertThat(each.resolve("mount")).exists());
    }

    // Promise D6
    @Test
    void whatAProcessHasLocked_stays_untilItEnds() throws Exception {
        Path used = left("tmp-job1" + HERE, OLD, "lock", "mount");
        Path own = left("tmp-job2" + HERE, OLD, "mount");
        Process other = new ProcessBuilder(
                        "/usr/bin/python3",
                        "-c",
                        "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); print(1, flush=True); sys.stdin.read()",
                        used.resolve("lock").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (RestartLock lock = RestartLock.take(own)) {
            assertThat(lock).isNotNull();
            assertThat(other.getInputStream().read()).isEqualTo('1');
            aged(used, OLD);
            aged(own, OLD);
            AbandonedRestarts.remove(state, HERE);
            AbandonedRestarts.removeIfUnused(used);
            assertThat(used.resolve("mount")).exists();
            assertThat(own.resolve("mount")).exists();
        } finally {
            other.destroyForcibly().waitFor();
        }
        aged(used, OLD);
        aged(own, OLD);
        AbandonedRestarts.remove(state, HERE);
        assertThat(used).doesNotExist();
        assertThat(own).doesNotExist();
    }
}
