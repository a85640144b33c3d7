package io.clairfs.tools.mount;

import io.clairfs.tools.JavaCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The command line of this build. With {@code -Dclairfs.daemons.compiled=true}, which benchmarks need, the daemons' code is compiled as for
 * a user.
 */
final class Clairfs {
    static final String MAIN = "io.clairfs.tools.cli.Main";
    static final String TRAINING = "io.clairfs.tools.cli.training.StartupTraining";
    static final String COMMAND_TRAINING = "io.clairfs.tools.cli.training.CommandTraining";

    /** Compact headers are the launcher's, too: a cache of loaded classes is of use only where the headers are the same. */
    private static final List<String> FLAGS = List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseCompactObjectHeaders",
            "-XX:+UseSerialGC");

    /** Tests run hundreds of processes, most of them for seconds. Full optimisation would take half of their processor time. */
    private static final String QUICKLY_COMPILED = "-XX:TieredStopAtLevel=1";

    /** Nor is what a cache of classes knows about what to compile of use to them: a tenth of the processor time of a mount. */
    private static final List<String> LATER_COMPILED =
            List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTReplayTraining");

    private static final Set<String> LONG = Set.of("mount", "demo", "bench", "simulate", "feed");

    private static final BuiltProgram PROGRAM = BuiltProgram.ofThisBuild(jvm());

    private Clairfs() {}

    private static List<String> jvm() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        if (!Boolean.getBoolean("clairfs.daemons.compiled")) {
            command.add(QUICKLY_COMPILED);
            command.addAll(LATER_COMPILED);
        }
        return command;
    }

    /** The command {@code clairfs arguments...}. */
    static List<String> command(String... arguments) {
        return commandOf(PROGRAM, arguments);
    }

    /** The same command with a copy of the program. */
    static List<String> commandOf(BuiltProgram program, String... arguments) {
        List<String> command = jvm();
        command.addAll(isShort(arguments) ? program.shortFlags() : program.flags());
        command.addAll(List.of("-cp", program.classPath(), MAIN));
        command.addAll(List.of(arguments));
        return command;
    }

    /** The same command, or one with it in it, for a daemon that lives so long that full optimisation pays. */
    static String[] compiledAsForUsers(String... command) {
        return Arrays.stream(command)
                .filter(word -> !word.equals(QUICKLY_COMPILED) && !word.equals(LATER_COMPILED.getLast()))
                .toArray(String[]::new);
    }

    /** The command of another main class of the tests, which starts as quickly. */
    static List<String> ofTests(Class<?> main, String... arguments) {
        List<String> command = jvm();
        command.addAll(PROGRAM.flags());
        command.addAll(
                List.of("-cp", PROGRAM.classPath() + ":" + System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** The command of a mount's own process, as the launcher starts it. It answers as the launcher expects, and its messages go to {@code log}. */
    static List<String> daemon(Path log, List<String> arguments) {
        List<String> ofProgram = JavaCommand.thisProgramInGroup(Long.MAX_VALUE);
        List<String> command = new ArrayList<>(ofProgram.subList(0, ofProgram.indexOf("-cp")));
        jvm().stream()
                .skip(1)
                .filter(flag -> flag.startsWith("-XX:") && !flag.endsWith("SerialGC"))
                .forEach(command::add);
        command.addAll(PROGRAM.flags());
        command.addAll(List.of("-cp", PROGRAM.classPath(), MAIN, arguments.getFirst(), "-f", "--launcher-log=" + log));
        command.addAll(arguments.subList(1, arguments.size()));
        return command;
    }

    /** Whether a command ends soon, as the launcher sees it. */
    private static boolean isShort(String... arguments) {
        return arguments.length > 0 && !LONG.contains(arguments[0]);
    }

    /** Copies the program below a directory, for users who may not read the original. */
    static BuiltProgram copiedTo(Path into) throws IOException {
        return PROGRAM.copiedTo(into);
    }
}
