package io.clairfs.tools.scratch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScratchTest {
    @TempDir
    Path parent;

    @Test
    void closingRemovesFilesAndEndsProcessesWithTheirChildren() throws Exception {
        Scratch scratch = Scratch.create(parent, false);
        Files.writeString(scratch.subdirectory("dataset").resolve("file"), "content");
        Process process = scratch.start(new ProcessBuilder("sh", "-c", "sleep 600 & echo $!; wait"));
        long child = Long.parseLong(process.inputReader().readLine());
        assertThat(ProcessHandle.of(child)).isPresent();
        scratch.close();
        assertThat(process.waitFor(300, TimeUnit.SECONDS)).isTrue();
        ProcessHandle.of(child).ifPresent(c -> assertThat(c.onExit()).succeedsWithin(300, TimeUnit.SECONDS));
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void nothingCanBeStartedAfterTheEnd() throws IOException {
        Scratch scratch = Scratch.create(parent, false);
        scratch.close();
        scratch.close();
        assertThatThrownBy(() -> scratch.start(new ProcessBuilder("true")))
                .isInstanceOf(IOException.class)
                .hasMessage("interrupted");
    }

    @Test
    void whatIsKeptStaysWhenTheNextOneBegins() throws IOException {
        Path kept;
        try (Scratch scratch = Scratch.create(parent, true)) {
            kept = scratch.directory();
            Files.writeString(kept.resolve("file"), "content");
        }
        Scratch.create(parent, false).close();
        assertThat(kept.resolve("file")).hasContent("content");
    }

    @Test
    void oneUnderWayStaysWhenTheNextOneBegins() throws IOException {
        try (Scratch underWay = Scratch.create(parent, false)) {
            Scratch.create(parent, false).close();
            assertThat(underWay.directory()).isNotEmptyDirectory();
        }
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void whatAKilledOneLeftIsRemovedAndNothingElse() throws IOException {
        Path left = Files.createDirectories(parent.resolve("clairfs-work-1/dataset"));
        Files.writeString(left.resolve("file"), "content");
        Files.createFile(parent.resolve("clairfs-work-1/lock"));
        Path other = Files.createDirectories(parent.resolve("something-else"));
        Files.createFile(other.resolve("lock"));
        Scratch.create(parent, false).close();
        assertThat(parent.resolve("clairfs-work-1")).doesNotExist();
        assertThat(other.resolve("lock")).exists();
    }

    @Test
    void whatAProcessStillWritesAndDeletesIsRemovedWhenThatHasEnded() throws Exception {
        Path left = parent.resolve("clairfs-work-1/state");
        AtomicBoolean ended = new AtomicBoolean();
        AtomicInteger written = new AtomicInteger();
        CompletableFuture<Void> process = CompletableFuture.runAsync(() -> {
            while (!ended.get()) {
                try {
                    Files.deleteIfExists(
                            Files.write(left.resolve("restart" + written.getAndIncrement() % 100), new byte[1]));
                } catch (IOException deletedMeanwhile) {
                    assertThat(deletedMeanwhile).isInstanceOf(NoSuchFileException.class); // join tells
                }
            }
        });
        try {
            while (written.get() == 0) { // it writes before the first try
                Thread.sleep(1);
            }
            for (int tries = 0; tries < 50; tries++) {
                Files.createDirectories(left);
                Files.write(left.resolveSibling("lock"), new byte[0]);
                try {
                    Scratch.create(parent, false).close();
                } catch (DirectoryNotEmptyException moreThanTheWalks) {
                    assertThat(moreThanTheWalks).hasMessageContaining("clairfs-work-1");
                }
            }
        } finally {
            ended.set(true);
        }
        process.join();
        assertThat(written).hasPositiveValue();
        Scratch.create(parent, false).close();
        assertThat(parent).isEmptyDirectory();
    }
}
