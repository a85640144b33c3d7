package io.clairfs.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.fs.control.ControlMount;
import io.clairfs.fs.control.ControlTree;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseSession;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountTable;
import io.clairfs.fs.testing.NeedsFuse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests when the command that mounts in the background returns. */
@Timeout(600)
@NeedsFuse
final class BackgroundMountTest {
    private static final long GENEROUS_S = 60;

    /** The mount point of every run, so that a run finds the leftovers of a killed one. */
    private static final Path POINT = Path.of("target", "background-mount-test").toAbsolutePath();

    private static final Path CONTROL = POINT.resolve(".clairfs");

    @TempDir
    Path directory;

    private final CountDownLatch answering = new CountDownLatch(1);
    private FuseSession control;
    private Process daemon;

    /** The process of which the control files are. */
    private volatile long pid;

    private final AtomicInteger asked = new AtomicInteger();

    /** Control files of a daemon that answers only the requests of its own start. */
    private ControlTree.Node find(List<String> path) {
        if (path.isEmpty()) {
            return new ControlTree.DirectoryNode(List.of());
        }
        try {
            answering.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        ControlFile status = () -> {
            asked.incrementAndGet();
            return ControlContent.of(("{\"pid\": " + pid + "}").getBytes(UTF_8));
        };
        return new ControlTree.FileNode(status);
    }

    @BeforeEach
    void mountControlFiles() throws Exception {
        while (MountTable.at(CONTROL).isPresent()) {
            Fusermount.detach(CONTROL);
        }
        Files.createDirectories(CONTROL);
        List<String> options = new ArrayList<>(ControlMount.OPTIONS);
        options.add("fsname=" + POINT);
        control = FuseSession.mount(
                CONTROL, options, new ControlMount(this::find, Clock.systemUTC()), new ErrnoTable((_, _, _) -> {}));
        daemon = new ProcessBuilder("sleep", "600").start();
        pid = daemon.pid();
    }

    @AfterEach
    void unmount() {
        answering.countDown();
        if (control != null) {
            control.close();
            daemon.destroyForcibly();
        }
    }

    private CompletableFuture<Void> awaitReady(long timeoutMs) {
        CompletableFuture<Void> outcome = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                BackgroundMount.awaitReady(daemon, POINT, directory.resolve("log"), timeoutMs);
                outcome.complete(null);
            } catch (Exception e) {
                outcome.completeExceptionally(e);
            }
        });
        return outcome;
    }

    @Test
    void mountThatHangsInItsStart_isGivenUpAndEnded() throws Exception {
        assertThatThrownBy(() -> awaitReady(1_000).get(GENEROUS_S, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(CommandFailedException.class)
                .hasMessage("the mount was not ready within 1 s; its log: " + directory.resolve("log"));
        assertThat(daemon.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
    }

    // As where two processes mount at one place, and one of them is about to be refused.
    @Test
    void mountOfAnotherProcess_isNoAnswer() throws Exception {
        pid = ProcessHandle.current().pid();
        answering.countDown();
        Files.writeString(directory.resolve("log"), "clairfs: mount point is busy\n");
        CompletableFuture<Void> outcome = awaitReady(TimeUnit.SECONDS.toMillis(GENEROUS_S));
        while (asked.get() < 2 && !outcome.isDone()) { // who asks again has not taken the first answer for the mount's
            TimeUnit.MILLISECONDS.sleep(1);
        }
        assertThat(outcome).isNotDone();
        daemon.destroy();
        assertThatThrownBy(() -> outcome.get(2 * GENEROUS_S, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(CommandFailedException.class)
                .hasMessage("mount point is busy");
    }

    @Test
    void mountThatAnswers_isReady() throws Exception {
        answering.countDown();
        awaitReady(TimeUnit.SECONDS.toMillis(GENEROUS_S)).get(2 * GENEROUS_S, TimeUnit.SECONDS);
        assertThat(daemon.isAlive()).isTrue();
    }
}
