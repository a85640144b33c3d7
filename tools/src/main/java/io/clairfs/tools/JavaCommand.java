package io.clairfs.tools;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line that starts this program in a new process. */
public final class JavaCommand {
    /** Has {@link #ALLOCATION} in the environment of a mount's own process. */
    public static final String ALLOCATION_VARIABLE = "GLIBC_TUNABLES";

    /**
     * The C library's settings for the memory of samples: one region that grows in large steps and uses huge pages where the system allows
     * it. Otherwise each sample costs a system call and a page fault for each of its pages, a third of the cost of an unstaged read.
     */
    public static final String ALLOCATION =
            "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1:glibc.malloc.top_pad=67108864"
                    + ":glibc.malloc.mmap_threshold=33554432";

    /** A name instead of a class reference: the command line depends on this class, not this class on it. */
    private static final String MAIN = "io.clairfs.tools.cli.Main";

    /** The flags of every JVM of clairfs. */
    private static final List<String> FLAGS =
            List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-ea:io.clairfs...");

    /**
     * G1's thread that refines remembered sets wakes twenty times a second, even without work. Its work is small here, because most memory is
     * outside the heap. The pauses do it instead. The thread that looks four times a second for monitors to free looks every two seconds. A heap
     * that listing a large dataset has made large becomes small again.
     */
    private static final List<String> QUIET_FLAGS = List.of(
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:-G1UseConcRefinement",
            "-XX:AsyncDeflationInterval=2000",
            "-XX:MinHeapFreeRatio=10",
            "-XX:MaxHeapFreeRatio=30");

    /**
     * The flags for Hazelcast and Netty in a group of nodes. They do not open the modules that Hazelcast asks for: its traffic is small, and a
     * JVM with further modules or exports starts without the cache of loaded classes, which takes twice as long.
     */
    private static final List<String> GROUP_FLAGS =
            List.of("-Dhazelcast.logging.type=slf4j", "-Dio.netty.noUnsafe=true");

    /** The launcher's flag for short-lived programs. Such a program also has a limit on compilation, which suits no other program. */
    private static final String ENDS_SOON = "-XX:+UseSerialGC";

    private static final String COMPILES = "-XX:TieredStopAtLevel=";

    /** The starts of flags that a child process inherits: heap sizes, a fast start, compilation. */
    private static final List<String> INHERITED =
            List.of("-Xm", "-XX:+UseCompact", "-XX:AOTCache=", "-Xlog:aot=", "-Xlog:cds=", COMPILES);

    /** The system property with the path of the launcher that started this JVM. */
    private static final String LAUNCHER = "io.clairfs.launcher";

    private JavaCommand() {}

    /** The command as a user writes it: the launcher that started this JVM; {@link #thisProgram()} if none did. */
    public static List<String> asUsersStartIt() {
        String launcher = System.getProperty(LAUNCHER);
        return launcher == null ? thisProgram() : List.of(launcher);
    }

    /** The command that starts a JVM like this one, without the flags for short-lived programs. */
    public static List<String> thisProgram() {
        return command(List.of(), Long.MAX_VALUE);
    }

    /** The same with a heap of at most {@code heapBytes}, unless this JVM was started with a heap size. */
    public static List<String> thisProgram(long heapBytes) {
        return command(List.of(), heapBytes);
    }

    /** The command for a process that takes part in a group of nodes. */
    public static List<String> thisProgramInGroup(long heapBytes) {
        return command(GROUP_FLAGS, heapBytes);
    }

    /** The command that starts another class of this program, which ends soon. */
    public static List<String> shortProgram(String mainClass) {
        List<String> command = begin();
        command.addAll(List.of(ENDS_SOON, COMPILES + 1, "-cp", System.getProperty("java.class.path"), mainClass));
        return command;
    }

    private static List<String> begin() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        return command;
    }

    private static List<String> command(List<String> furtherFlags, long heapBytes) {
        List<String> command = begin();
        command.addAll(QUIET_FLAGS);
        command.addAll(furtherFlags);
        List<String> own = ManagementFactory.getRuntimeMXBean().getInputArguments();
        List<String> inherited = own.stream()
                .filter(flag -> INHERITED.stream().anyMatch(flag::startsWith))
                .filter(flag -> !(own.contains(ENDS_SOON) && flag.startsWith(COMPILES)))
                .toList();
        command.addAll(inherited);
        if (heapBytes < Runtime.getRuntime().maxMemory()
                && inherited.stream().noneMatch(flag -> flag.startsWith("-Xm"))) {
            command.add("-Xmx" + heapBytes);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
        return command;
    }
}
