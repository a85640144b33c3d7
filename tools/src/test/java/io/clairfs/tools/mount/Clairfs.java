package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of this build. */
final class Clairfs {
    static final String MAIN = "io.clairfs.tools.cli.Main";

    private static final List<String> FLAGS = List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC");

    private static final BuiltProgram PROGRAM = BuiltProgram.ofThisBuild(jvm());

    private Clairfs() {}

    private static List<String> jvm() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        return command;
    }

    /** {@code clairfs arguments...}. */
    static List<String> command(String... arguments) {
        return commandOf(PROGRAM, arguments);
    }

    /** The same by a copy of the program. */
    static List<String> commandOf(BuiltProgram program, String... arguments) {
        List<String> command = jvm();
        command.addAll(program.flags());
        command.addAll(List.of("-cp", program.classPath(), MAIN));
        command.addAll(List.of(arguments));
        return command;
    }

    /** A copy of the program below a directory, for those who may not read where it lies. */
    static BuiltProgram copiedTo(Path into) throws IOException {
        return PROGRAM.copiedTo(into);
    }
}
