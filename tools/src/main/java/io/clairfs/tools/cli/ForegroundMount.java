package io.clairfs.tools.cli;

import io.clairfs.tools.node.Daemon;
import io.clairfs.tools.node.MountLog;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.restart.Takeover;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Serves a mount in this process, until it is unmounted or a signal ends the process. */
final class ForegroundMount {
    private static final long END_TIMEOUT_MS = 15_000;

    private ForegroundMount() {}

    /**
     * Mounts, and returns when the mount has ended.
     *
     * @param takeover the mount to go on with; null for a new one
     * @param hasLauncher whether a launcher waits to be told that the mount answers
     * @throws CommandFailedException if a signal comes before there is a mount, or the launcher cannot be told
     */
    static void run(MountConfig config, @Nullable Takeover takeover, boolean hasLauncher)
            throws IOException, CommandFailedException {
        try {
            serve(config, takeover, hasLauncher);
        } finally {
            MountLog.end();
        }
    }

    private static void serve(MountConfig config, @Nullable Takeover takeover, boolean hasLauncher)
            throws IOException, CommandFailedException {
        CompletableFuture<Daemon> started = new CompletableFuture<>();
        Thread atSignal = Thread.ofPlatform().name("shutdown").unstarted(() -> end(started));
        try {
            Runtime.getRuntime().addShutdownHook(atSignal); // before there is a mount, which a signal would leave
        } catch (IllegalStateException signalled) {
            throw new CommandFailedException("ended before it was mounted");
        }
        Daemon daemon;
        try {
            daemon = Daemon.start(config, takeover);
        } catch (IOException | RuntimeException | Error e) {
            started.completeExceptionally(e);
            throw e;
        }
        started.complete(daemon);
        try {
            if (hasLauncher) {
                BackgroundMount.tellLauncher(config.mountPoint());
            }
            daemon.ended().join();
        } finally {
            end(started);
        }
    }

    /**
     * Closes the daemon, as soon as it has started. Each part has its bound; this thread bounds all of them together, even if the bound of a part fails.
     */
    private static void end(CompletableFuture<Daemon> started) {
        Thread.ofPlatform().daemon().name("end-watch").start(() -> {
            try {
                TimeUnit.MILLISECONDS.sleep(END_TIMEOUT_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            System.err.println("clairfs: did not end within " + END_TIMEOUT_MS / 1000 + " s; what is left is cut off");
            var _ = started.thenAccept(Daemon::cut);
            Runtime.getRuntime().halt(Main.FAILED);
        });
        try {
            started.join().close();
        } catch (CompletionException notStarted) {
            assert notStarted.getCause() != null : "whoever started it has said why not";
        }
        MountLog.end();
    }
}
