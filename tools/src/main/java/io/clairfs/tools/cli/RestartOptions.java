package io.clairfs.tools.cli;

import io.clairfs.tools.config.MountFile;
import io.clairfs.tools.node.config.RestartConfig;
import io.clairfs.tools.node.restart.Takeover;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a mount whose process is started again when it dies. Some are for the launcher and the supervisor alone. */
final class RestartOptions {
    private static final int DEFAULT = 3;
    private static final int MOST = 1000;
    private static final String TAKE_OVER = "--take-over";
    private static final String ONLY_CHECK = "--only-check";

    /** What the user did not write: options of the launcher, of the supervisor and of an upgrade, and that the process stays in the foreground. */
    private static final List<String> NOT_THE_USERS =
            List.of("--launcher-log=", TAKE_OVER + "=", "--mounted-at=", "--predecessor=", "--supervisor=", ONLY_CHECK);

    private static final List<String> FOREGROUND = List.of("-f", "--foreground");

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(
            names = "--restarts",
            paramLabel = "N",
            description = "How often within a minute the mount's process is started again if it dies, and goes on with "
                    + "the mount; 0: never (default: 3, and 0 with -f).")
    private @Nullable Integer restarts;

    @Option(
            names = TAKE_OVER,
            paramLabel = "DIR",
            hidden = true,
            description = "Goes on with a mount whose process has died.")
    private @Nullable Path takeOver;

    @Option(names = "--mounted-at", paramLabel = "MOUNTPOINT", hidden = true, description = "Where that mount is.")
    private @Nullable Path mountedAt;

    @Option(names = "--predecessor", paramLabel = "PROCESS", hidden = true, description = "The process that has died.")
    private long predecessor;

    @Option(names = "--supervisor", paramLabel = "PROCESS", hidden = true, description = "The process that waits.")
    private long supervisor;

    @Option(
            names = ONLY_CHECK,
            hidden = true,
            description = "Only says whether this program could go on with that mount, whose process lives.")
    private boolean onlyCheck;

    /** The mount to go on with; null for a new one. */
    @Nullable
    Takeover takeover() throws IOException {
        if (onlyCheck && takeOver == null) {
            throw new ParameterException(spec.commandLine(), ONLY_CHECK + " needs " + TAKE_OVER);
        }
        return takeOver == null ? null : Takeover.of(takeOver, mountedAt, predecessor, supervisor);
    }

    /** Whether to say only if the mount could be gone on with. */
    boolean isOnlyCheck() {
        return onlyCheck;
    }

    /** The arguments of {@code mount} by which another program says whether it could go on with a mount. */
    static List<String> toCheck(Path kept, List<String> given) {
        List<String> arguments = new ArrayList<>(List.of(TAKE_OVER + "=" + kept, ONLY_CHECK, FOREGROUND.getFirst()));
        arguments.addAll(ofUser(given));
        return arguments;
    }

    /** How the process is started again. */
    RestartConfig config(MountFile said, boolean inBackground) {
        int usual = inBackground || takeOver != null ? DEFAULT : 0;
        int most = restarts != null ? restarts : said.restarts() != null ? said.restarts() : usual;
        if (most < 0 || most > MOST) {
            throw new ParameterException(spec.commandLine(), "--restarts must be 0 to " + MOST);
        }
        return new RestartConfig(
                Stream.concat(
                                Stream.of(FOREGROUND.getFirst()),
                                argumentsOfUser().stream().skip(1))
                        .toList(),
                most);
    }

    /** The name of the command and the user's arguments, without those that launcher and supervisor have added. */
    List<String> argumentsOfUser() {
        return ofUser(spec.commandLine().getParseResult().originalArgs());
    }

    private static List<String> ofUser(List<String> all) {
        List<String> users = new ArrayList<>();
        boolean options = true;
        for (String argument : all) {
            options &= !argument.equals("--");
            if (!options
                    || !(FOREGROUND.contains(argument) || NOT_THE_USERS.stream().anyMatch(argument::startsWith))) {
                users.add(argument);
            }
        }
        return users;
    }
}
