package io.clairfs.tools.cli;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

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

    @Override
    public Integer call() throws IOException, CommandFailedException {
        ControlClient client = new ControlClient(mountPoint);
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
            System.out.flush();
            try {
                Thread.sleep(REFRESH_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Main.DONE;
            }
        }
    }
}
