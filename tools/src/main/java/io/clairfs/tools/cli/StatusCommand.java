package io.clairfs.tools.cli;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Shows what a mount is doing. */
@Command(name = "status", mixinStandardHelpOptions = true, description = "Shows what a mount is doing.")
final class StatusCommand implements Callable<Integer> {
    private static final long REFRESH_MS = 1_000;
    private static final String CLEAR_SCREEN = "\u001b[H\u001b[2J";

    @Parameters(paramLabel = "MOUNTPOINT", description = "The mount point, or any path below it.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Option(names = "--json", description = "As JSON.")
    private boolean json;

    @Option(names = "--watch", description = "Repeats every second until interrupted.")
    private boolean watch;

    @Option(
            names = "--ready",
            description = "Prints nothing if the mount answers and its dataset is listed; else says why not, with exit"
                    + " code 1. For readiness probes.")
    private boolean ready;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        if (ready && (json || watch)) {
            throw new ParameterException(spec.commandLine(), "--ready stands alone, without --json and --watch");
        }
        ControlClient client = new ControlClient(mountPoint);
        if (ready) {
            requireReady(client);
            return Main.DONE;
        }
        String file = json ? "status.json" : "status";
        if (!watch) {
            System.out.print(client.read(file));
            return Main.DONE;
        }
        Console console = System.console();
        boolean terminal = console != null && console.isTerminal();
        while (true) {
            String now = client.read(file);
            System.out.print((terminal && !json ? CLEAR_SCREEN : "") + now);
            if (System.out.checkError()) {
                return Main.DONE; // nobody reads it any more, as behind `| head`
            }
            try {
                Thread.sleep(REFRESH_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Main.DONE;
            }
        }
    }

    private static void requireReady(ControlClient client) throws IOException, CommandFailedException {
        JsonNode status = new JsonMapper().readTree(client.read("status.json"));
        if (!status.path("ready").asBoolean()) {
            JsonNode error = status.path("index_error");
            throw new CommandFailedException(client.root() + " is not ready: "
                    + (error.isString()
                            ? error.asString()
                            : String.format(
                                    Locale.ROOT,
                                    "still listing, %,d files so far",
                                    status.path("samples").asLong())));
        }
    }
}
