package io.clairfs.tools.cli;

import io.clairfs.fs.dataset.DatasetMount;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Runs a command whose Python programs take their order from a job of the mount, or, where there is none, have one written for their loaders.
 *
 * <p>The launcher does the same without a JVM and becomes the command itself. This class serves what the launcher leaves to it: the help,
 * wrong usage, and a mount that does not answer within some seconds. It then is the parent of the command, passes SIGTERM on, and ends
 * with its exit code.
 */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        customSynopsis = "clairfs run MOUNTPOINT [--job NAME] -- COMMAND...",
        description =
                "Runs a training script that needs no change: torch's DistributedSampler takes the order of a job,"
                        + " for datasets below the mount. Without a job, one is written that has the order of the script's"
                        + " own DataLoader; see docs/ORDERS.md.")
final class RunCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "MOUNTPOINT", description = "The mount point, or any path below it.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Option(names = "--job", paramLabel = "NAME", defaultValue = "train", description = "Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init")
    private String job;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "COMMAND",
            description = "The command with its arguments, behind --.")
    private List<String> command = new ArrayList<>();

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        ControlClient client = new ControlClient(mountPoint);
        Path modules = client.root().resolve(DatasetMount.CONTROL_DIRECTORY).resolve("python");
        if (modules.toString().contains(":")) {
            throw new CommandFailedException(
                    "PYTHONPATH cannot name " + modules + ", which has a colon: mount the dataset elsewhere");
        }
        try {
            String _ = client.read("python/sitecustomize.py");
        } catch (NoSuchFileException e) {
            throw new CommandFailedException("the mount at " + client.root()
                    + " is of an older clairfs, which has no orders for trainers: unmount it and mount again");
        }
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        Map<String, String> environment = builder.environment();
        environment.put("CLAIRFS_MOUNT", client.root().toString());
        environment.put("CLAIRFS_JOB", job);
        environment.merge("PYTHONPATH", modules.toString(), (others, ours) -> ours + ":" + others);
        Process process = builder.start();
        Thread passOn = new Thread(() -> {
            process.destroy();
            process.onExit().join();
        });
        Runtime.getRuntime().addShutdownHook(passOn);
        int code = process.waitFor();
        try {
            Runtime.getRuntime().removeShutdownHook(passOn);
        } catch (IllegalStateException alreadyEnding) {
            assert alreadyEnding != null : "the signal that ends this process has ended the command";
        }
        return code;
    }
}
