package io.clairfs.tools.cli;

import io.clairfs.tools.node.Daemon;
import io.clairfs.tools.node.MountLog;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.restart.Takeover;
import java.io.IOException;
import java.nio.file.Path;
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
     * @param launcherLog what a launcher has begun that waits to be told that the mount answers; null without one
     * @throws CommandFailedException if a signal comes before there is a mount, or the launcher cannot be told
     */
    static void run(MountConfig config, @Nullable Takeover takeover, @Nullable Path launcherLog)
            throws IOException, CommandFailedException {
        try {
            serve(config, takeover, launcherLog);
        } finally {
            MountLog.end();
        }
    }

    private static void serve(MountConfig config, @Nullable Takeover takeover, @Nullable Path launcherLog)
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
            daemon = takeover != null
                    ? Daemon.takeOver(config, takeover)
                    : Daemon.start(config, () -> keepLog(launcherLog, config));
        } catch (IOException | RuntimeException | Error e) {
            started.completeExceptionally(e);
            throw e;
        }
        started.complete(daemon);
        try {
            if (launcherLog != null) {
                BackgroundMount.tellLauncher(config.mountPoint());
            }
            daemon.ended().join();
        } finally {
            end(started);
        }
    }

    private static void keepLog(@Nullable Path launcherLog, MountConfig config) throws IOException {
        if (launcherLog != null) {
            BackgroundMount.keepLog(launcherLog, config.mountPoint());
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
