package io.clairfs.tools.cli;

import io.clairfs.tools.top.Interval;
import io.clairfs.tools.top.TopLines;
import io.clairfs.tools.top.TopScreen;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Shows what a mount does from second to second. */
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        description = {
            "Shows what a mount does from second to second: where its jobs are, and where samples come from.",
            "One screen on a terminal, until interrupted; lines with --every, or elsewhere."
        })
final class TopCommand implements Callable<Integer> {
    private static final Duration REFRESH = Duration.ofSeconds(1);
    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final Duration LONGEST = Duration.ofDays(1);
    private static final Pattern TIME = Pattern.compile("([0-9]{1,6})(ms|s|min)?");
    private static final int LINES_UNDER_A_HEADER = 20;

    /** The terminal's second screen, without a cursor and without wrapping long lines; and back. */
    private static final String BEGIN = "\u001b[?1049h\u001b[?25l\u001b[?7l";

    private static final String END = "\u001b[?7h\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String END_OF_LINE = "\u001b[K\n";
    private static final String END_OF_SCREEN = "\u001b[J";

    private final JsonMapper json = new JsonMapper();

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "MOUNTPOINT", description = "The mount point, or any path below it.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Option(names = "--every", paramLabel = "TIME", description = "Lines, one every 1s, 500ms or 5min.")
    private @Nullable String every;

    @Option(names = "--count", paramLabel = "N", description = "Ends after so many lines or screens.")
    private @Nullable Integer count;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        Duration pause = every == null ? REFRESH : time(every);
        check(count == null || count > 0, "--count must be positive");
        ControlClient client = new ControlClient(mountPoint);
        Console console = System.console();
        int most = count == null ? Integer.MAX_VALUE : count;
        if (every == null && console != null && console.isTerminal()) {
            Thread restore = new Thread(TopCommand::leaveScreen);
            Runtime.getRuntime().addShutdownHook(restore);
            System.out.print(BEGIN);
            try {
                repeat(client, pause, most, (interval, _) -> show(interval));
            } finally {
                leaveScreen();
                Runtime.getRuntime().removeShutdownHook(restore);
            }
        } else {
            repeat(client, pause, most, TopCommand::print);
        }
        return Main.DONE;
    }

    private interface Shown {
        void show(Interval interval, int number);
    }

    private void repeat(ControlClient client, Duration pause, int most, Shown shown)
            throws IOException, CommandFailedException {
        JsonNode before = json.readTree(client.read("status.json"));
        for (int number = 0; number < most; number++) {
            try {
                Thread.sleep(pause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            JsonNode now = json.readTree(client.read("status.json"));
            Interval interval = new Interval(before, now);
            if (interval.isOfOneDaemon()) {
                shown.show(interval, number);
            }
            if (System.out.checkError()) {
                return; // nobody reads it any more, as behind `| head`
            }
            before = now;
        }
    }

    private static void print(Interval interval, int number) {
        if (number % LINES_UNDER_A_HEADER == 0) {
            System.out.println(TopLines.HEADER);
        }
        System.out.println(TopLines.of(interval));
        System.out.flush();
    }

    private static void show(Interval interval) {
        System.out.print(HOME + String.join(END_OF_LINE, TopScreen.of(interval)) + END_OF_LINE + END_OF_SCREEN);
        System.out.flush();
    }

    private static void leaveScreen() {
        System.out.print(END);
        System.out.flush();
    }

    private Duration time(String text) {
        Matcher match = TIME.matcher(text);
        check(match.matches(), "--every '" + text + "' is not a time like 1s, 500ms or 5min");
        long number = Long.parseLong(match.group(1));
        Duration time = switch (match.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "min" -> Duration.ofMinutes(number);
            case null, default -> Duration.ofSeconds(number);
        };
        check(
                time.compareTo(SHORTEST) >= 0 && time.compareTo(LONGEST) <= 0,
                "--every '" + text + "' must be from 100ms to a day");
        return time;
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
