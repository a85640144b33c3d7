package io.clairfs.tools.cli;

import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.fs.mount.FuseConnection;
import io.clairfs.tools.node.mount.ControlRead;
import io.clairfs.tools.node.mount.ControlRead.Answer;
import io.clairfs.tools.node.mount.MountCheck;
import io.clairfs.tools.node.mount.MountProcess;
import io.clairfs.tools.node.mount.RestartProcesses;
import io.clairfs.tools.node.restart.RestartDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;

/**
 * Unmounts. Returns when the mount and its process are gone.
 *
 * <p>If the process does not end by itself within its bound, the command removes the mount and kills the process. Threads that remain after
 * that wait in the kernel for a dead source; the mount is gone anyway.
 *
 * <p>A process that has died may be being started again. What goes on with this mount ends with it, however often it was started meanwhile. One that makes a
 * mount of its own has come after the end of this one, and its mount stays.
 */
@Command(name = "umount", mixinStandardHelpOptions = true, description = "Unmounts; returns when the mount is gone.")
final class UmountCommand implements Callable<Integer> {
    private static final long ANSWER_TIMEOUT_MS = 5_000;

    /** Longer than the bound within which a daemon ends. */
    private static final long END_TIMEOUT_MS = 20_000;

    /** The time that the kernel needs to tear down a killed process, or a supervisor to see that its mount is gone. */
    private static final long KILL_TIMEOUT_MS = 3_000;

    private static final long POLL_MS = 20;

    @Parameters(paramLabel = "MOUNTPOINT", description = "Where it is mounted.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        Path point = MountCheck.real(mountPoint);
        if (!MountCheck.isOurs(point)) {
            throw new CommandFailedException(point + " is not a clairfs mount");
        }
        String number = FuseConnection.device(point);
        List<Long> processes = processes(point);
        Set<Long> before = new HashSet<>(processes);
        before.addAll(MountProcess.making(point));
        for (long pid : processes) {
            signal(pid, "TERM");
            signal(pid, "CONT"); // a stopped process does not handle SIGTERM
        }
        await(processes, END_TIMEOUT_MS, pid -> MountProcess.state(pid) != MountProcess.State.LIVES);
        boolean hasNext = !before.containsAll(MountProcess.making(point)); // another has mounted there meanwhile
        if (MountCheck.isOurs(point) && !hasNext) {
            MountCheck.remove(point);
        }
        for (long pid : processes) {
            if (MountProcess.state(pid) == MountProcess.State.LIVES && MountProcess.isOurs(pid)) {
                signal(pid, "KILL");
            }
        }
        if (!await(processes, KILL_TIMEOUT_MS, pid -> MountProcess.state(pid) == MountProcess.State.GONE)) {
            System.err.println("clairfs: " + point + " is unmounted; process " + processes.getFirst()
                    + " ends when its source answers or is unmounted, for the source holds a request of it");
        }
        if (!hasNext) {
            endRestarts(point, number);
            RestartDirectory.removeAbandoned(point);
        }
        return Main.DONE;
    }

    /** The mount is gone, so its supervisor ends when nobody goes on with the mount. Who is just about to would end, too, but later. */
    private static void endRestarts(Path point, String number) throws IOException, CommandFailedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(KILL_TIMEOUT_MS);
        while (!RestartProcesses.of(point, number).isEmpty() && System.nanoTime() < deadline) {
            for (long pid : RestartProcesses.takingOver(point)) {
                signal(pid, "KILL");
            }
            pause("the processes of " + point);
        }
    }

    private static void pause(String waitsFor) throws CommandFailedException {
        try {
            TimeUnit.MILLISECONDS.sleep(POLL_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailedException("interrupted while waiting for " + waitsFor);
        }
    }

    /** The process behind the mount, if there is one and this user can see it. */
    private static List<Long> processes(Path point) throws IOException {
        Path status = point.resolve(DatasetMount.CONTROL_DIRECTORY).resolve("status.json");
        return switch (ControlRead.read(status, ANSWER_TIMEOUT_MS)) {
            case Answer.Content(String text) -> {
                long pid = new JsonMapper().readTree(text).path("pid").asLong(-1);
                yield MountProcess.isOf(pid, point) ? List.of(pid) : List.of();
            }
            case Answer.Refused _, Answer.Silence _ -> MountProcess.of(point);
        };
    }

    private static void signal(long pid, String name) throws IOException {
        Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid) // kill is a shell builtin
                .redirectErrorStream(true)
                .start();
        try {
            if (!kill.waitFor(ANSWER_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                kill.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until {@code so} holds for all processes. Returns false if the timeout is reached first. */
    private static boolean await(List<Long> processes, long timeoutMs, Predicate<Long> so)
            throws CommandFailedException {
        List<Long> left = new ArrayList<>(processes);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (true) {
            left.removeIf(so);
            if (left.isEmpty() || System.nanoTime() > deadline) {
                return left.isEmpty();
            }
            pause("process " + processes.getFirst());
        }
    }
}
