package io.clairfs.tools;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How to run this program again. */
public final class JavaCommand {
    /** By its name: the command line uses what starts it again, and not the other way round. */
    private static final String MAIN = "io.clairfs.tools.cli.Main";

    /** What every JVM of clairfs is started with. */
    private static final List<String> FLAGS =
            List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");

    /** What Hazelcast and Netty want of a JVM that is in a group of nodes. */
    private static final List<String> GROUP_FLAGS = List.of(
            "--add-modules=java.se",
            "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.management/sun.management=ALL-UNNAMED",
            "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
            "-Dhazelcast.logging.type=slf4j",
            "-Dio.netty.noUnsafe=true");

    /** How flags begin that a process which is started by this one has as well: sizes of the heap, and what makes the start fast. */
    private static final List<String> INHERITED =
            List.of("-Xm", "-XX:+UseCompact", "-XX:AOTCache=", "-Xlog:aot=", "-Xlog:cds=");

    private JavaCommand() {}

    /** The command, in a JVM like this one but for what only suits programs that end soon. */
    public static List<String> thisProgram() {
        return command(List.of());
    }

    /** The command for a process that takes part in a group of nodes; it starts more slowly. */
    public static List<String> thisProgramInGroup() {
        return command(GROUP_FLAGS);
    }

    private static List<String> command(List<String> furtherFlags) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        command.addAll(furtherFlags);
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> INHERITED.stream().anyMatch(flag::startsWith))
                .forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
        return command;
    }
}
