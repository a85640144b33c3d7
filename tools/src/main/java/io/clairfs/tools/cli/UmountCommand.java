package io.clairfs.tools.cli;

import io.clairfs.tools.daemon.MountCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;

/** Unmounts; returns when the mount and its process are gone. */
@Command(name = "umount", mixinStandardHelpOptions = true, description = "Unmounts; returns when it is gone.")
final class UmountCommand implements Callable<Integer> {
    private static final long END_TIMEOUT_S = 20;

    @Parameters(paramLabel = "MOUNTPOINT", description = "Where it is mounted.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        Path point = MountCheck.real(mountPoint);
        if (!MountCheck.isOurs(point)) {
            throw new CommandFailedException(point + " is not a clairfs mount");
        }
        Optional<ProcessHandle> daemon = MountCheck.isDead(point) ? Optional.empty() : daemon(point);
        if (daemon.isPresent() && daemon.get().destroy()) {
            awaitEnd(daemon.get(), point);
        }
        if (MountCheck.isOurs(point)) {
            MountCheck.remove(point);
        }
        return Main.DONE;
    }

    /** The process behind the mount, if this user can see it and it is one of ours. */
    private static Optional<ProcessHandle> daemon(Path point) throws IOException, CommandFailedException {
        long pid = new JsonMapper()
                .readTree(new ControlClient(point).read("status.json"))
                .path("pid")
                .asLong(-1);
        Path commandLine = Path.of("/proc", Long.toString(pid), "cmdline");
        return Files.isReadable(commandLine) && Files.readString(commandLine).contains(Main.class.getName())
                ? ProcessHandle.of(pid)
                : Optional.empty();
    }

    private static void awaitEnd(ProcessHandle daemon, Path point) throws CommandFailedException {
        CompletableFuture<ProcessHandle> end = daemon.onExit();
        try {
            end.get(END_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new CommandFailedException("process " + daemon.pid() + " of " + point + " did not end within "
                    + END_TIMEOUT_S + " s; as a last resort: kill -9 " + daemon.pid());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailedException("interrupted while waiting for process " + daemon.pid());
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
    }
}
