package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.ForwardingSource;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Links that lead out of the source. */
class LinkTargetsTest {
    private static final long HOUR_MS = TimeUnit.HOURS.toMillis(1);

    @TempDir
    Path directory;

    @TempDir
    Path outside;

    /** What was asked for, by the link's path. */
    private final List<String> asked = new CopyOnWriteArrayList<>();

    private final CountDownLatch answers = new CountDownLatch(1);
    private volatile boolean hangs;
    private volatile boolean fails;
    private @Nullable DatasetTree tree;

    private final class Asked extends ForwardingSource {
        Asked(DirectorySource source) {
            super(source);
        }

        @Override
        public @Nullable FileStatus statusBehind(byte[] link) throws SourceException {
            asked.add(new String(link, UTF_8));
            if (fails) {
                throw new SourceFailedException("link", Errno.EIO);
            }
            if (hangs) {
                try {
                    answers.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return super.statusBehind(link);
        }
    }

    @BeforeEach
    void list() throws Exception {
        Files.createFile(outside.resolve("file"));
        Files.createSymbolicLink(directory.resolve("directory"), outside);
        Files.createSymbolicLink(directory.resolve("file"), outside.resolve("file"));
        Files.createSymbolicLink(directory.resolve("device"), Path.of("/dev/null"));
        Files.createSymbolicLink(directory.resolve("broken"), outside.resolve("gone"));
        Files.createSymbolicLink(directory.resolve("relative"), Path.of(".."));
        Files.createFile(directory.resolve("no-link"));
        tree = new DatasetTree(new Asked(new DirectorySource(directory)), 2, line -> {});
        tree.complete().join();
    }

    @AfterEach
    void close() {
        answers.countDown();
        Objects.requireNonNull(tree).close();
    }

    private LinkTarget target(String name, long timeoutMs) throws SourceException {
        DatasetTree listed = Objects.requireNonNull(tree);
        Entry entry = Objects.requireNonNull(listed.find(name.getBytes(UTF_8), HOUR_MS));
        return listed.targetOutside(entry, timeoutMs);
    }

    @Test
    void eachLink_isLookedAtOnce() throws Exception {
        for (int i = 0; i < 2; i++) {
            assertThat(target("directory", HOUR_MS)).isEqualTo(LinkTarget.DIRECTORY);
            assertThat(target("file", HOUR_MS)).isEqualTo(LinkTarget.FILE);
            assertThat(target("device", HOUR_MS)).isEqualTo(LinkTarget.OTHER);
            assertThat(target("broken", HOUR_MS)).isEqualTo(LinkTarget.NOTHING);
            assertThat(target("relative", HOUR_MS)).isEqualTo(LinkTarget.DIRECTORY);
        }
        assertThat(asked).containsExactlyInAnyOrder("directory", "file", "device", "broken", "relative");
    }

    @Test
    void linkThatDoesNotAnswer_isWaitedForOnce() {
        hangs = true;
        assertThatThrownBy(() -> target("directory", 1)).isInstanceOf(SourceTimeoutException.class);
        assertThatThrownBy(() -> target("directory", HOUR_MS)).isInstanceOf(SourceTimeoutException.class);
    }

    @Test
    void failure_isNotKept() throws Exception {
        fails = true;
        assertThatThrownBy(() -> target("relative", HOUR_MS)).isInstanceOf(SourceFailedException.class);
        fails = false;
        assertThat(target("relative", HOUR_MS)).isEqualTo(LinkTarget.DIRECTORY);
    }
}
