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

    private JavaCommand() {}

    /** The command, in a JVM like this one but for what only shortens its start. */
    public static List<String> thisProgram() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        command.addAll(GROUP_FLAGS);
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("-Xm") || flag.startsWith("-XX:+UseCompact"))
                .forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
        return command;
    }
}
