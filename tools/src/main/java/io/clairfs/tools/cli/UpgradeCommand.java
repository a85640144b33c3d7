package io.clairfs.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.tools.JavaCommand;
import io.clairfs.tools.node.mount.MountProcess;
import io.clairfs.tools.node.restart.MountCommandLine;
import io.clairfs.tools.node.restart.RestartDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Replaces the process of a mount by one of this program, in use. */
@Command(
        name = "upgrade",
        mixinStandardHelpOptions = true,
        description = "Replaces the process of a mount by one of this version; readers wait for a moment.")
final class UpgradeCommand implements Callable<Integer> {
    /** The supervisor gives the new program a minute, and as long to the one before if it has to go back to that. */
    private static final long TIMEOUT_MS = 130_000;

    private static final long POLL_MS = 50;

    @Parameters(paramLabel = "MOUNTPOINT", description = "Where it is mounted.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        ControlClient client = new ControlClient(mountPoint);
        JsonNode before = new JsonMapper().readTree(client.read("status.json"));
        long pid = before.path("pid").asLong();
        RestartDirectory directory = directory(client);
        boolean inGroup = !before.path("group").isNull();
        List<String> program =
                inGroup ? JavaCommand.thisProgramInGroup(Long.MAX_VALUE) : JavaCommand.thisProgram(Long.MAX_VALUE);
        new UpgradeCheck(pid, directory).require(program);
        directory.writeProgram(program);
        long begun = System.nanoTime();
        try {
            Files.write(client.file("upgrade"), "now\n".getBytes(UTF_8), StandardOpenOption.WRITE);
        } catch (IOException e) {
            requireUnderWay(client, pid, e);
        }
        JsonNode after = awaitNext(client, pid);
        requireThisProgram(after, program);
        System.out.printf(
                "process %d was replaced by process %d of clairfs %s in %.1f s%n",
                pid, after.path("pid").asLong(), after.path("version").asString(), (System.nanoTime() - begun) / 1e9);
        return Main.DONE;
    }

    /** The supervisor may have gone back to the program before. */
    private static void requireThisProgram(JsonNode after, List<String> program)
            throws IOException, CommandFailedException {
        long pid = after.path("pid").asLong();
        if (!MountCommandLine.of(pid).isOf(program)) {
            throw new CommandFailedException("this program did not take the mount over, so process " + pid
                    + " of the program before, clairfs " + after.path("version").asString()
                    + ", goes on with it; the log says why: " + MountProcess.log(pid));
        }
    }

    /** The process may have ended in the middle of the answer, for this command or for another one. */
    private static void requireUnderWay(ControlClient client, long before, IOException failure)
            throws IOException, CommandFailedException {
        JsonNode now = status(client);
        if (now != null && now.path("pid").asLong() == before) {
            throw new CommandFailedException(client.lastError(failure));
        }
    }

    private static RestartDirectory directory(ControlClient client) throws IOException, CommandFailedException {
        try {
            return new RestartDirectory(Path.of(client.read("upgrade").strip()));
        } catch (NoSuchFileException | CommandFailedException e) {
            throw new CommandFailedException("the process of this mount cannot be replaced in use: it was mounted with"
                    + " --restarts 0 or -f, is still listing its dataset, is of an older version, its"
                    + " supervisor was killed, or Linux is older than 6.9; clairfs umount " + client.root()
                    + ", and mount it again");
        }
    }

    private JsonNode awaitNext(ControlClient client, long before) throws CommandFailedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
        while (System.nanoTime() < deadline) {
            JsonNode now = status(client);
            if (now != null
                    && now.path("pid").asLong() != before
                    && now.path("ready").asBoolean()) {
                return now;
            }
            try {
                TimeUnit.MILLISECONDS.sleep(POLL_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommandFailedException("interrupted; the process is being replaced all the same");
            }
        }
        throw new CommandFailedException("no process serves " + client.root() + " after " + TIMEOUT_MS / 1000
                + " s; clairfs umount " + client.root() + ", and mount it again");
    }

    /** Null while no process answers. */
    private static @Nullable JsonNode status(ControlClient client) {
        try {
            return new JsonMapper().readTree(client.read("status.json"));
        } catch (IOException | CommandFailedException notYet) {
            return null;
        }
    }
}
