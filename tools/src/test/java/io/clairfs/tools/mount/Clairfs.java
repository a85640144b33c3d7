package io.clairfs.tools.mount;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of this build. */
final class Clairfs {
    private static final List<String> FLAGS = List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC");

    private Clairfs() {}

    /** {@code clairfs arguments...} on the class path of the tests. */
    static List<String> command(String... arguments) {
        return commandOn(System.getProperty("java.class.path"), arguments);
    }

    static List<String> commandOn(String classPath, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        command.addAll(List.of("-cp", classPath, "io.clairfs.tools.cli.Main"));
        command.addAll(List.of(arguments));
        return command;
    }
}
