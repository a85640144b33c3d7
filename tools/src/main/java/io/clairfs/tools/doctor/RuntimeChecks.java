package io.clairfs.tools.doctor;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Java, and the GPU of a feeder. */
final class RuntimeChecks implements Check {
    private static final int LEAST_JAVA = 25;

    @Override
    public List<Finding> look(Examined examined) {
        List<Finding> found = new ArrayList<>();
        Machine machine = examined.machine();
        found.add(
                machine.javaVersion() < LEAST_JAVA
                        ? Finding.problem(
                                "java",
                                "release " + machine.javaVersion() + " is older than " + LEAST_JAVA,
                                "a JDK of 25 or newer (https://adoptium.net), and JAVA_HOME")
                        : Finding.ok("java", "release " + machine.javaVersion() + startup()));
        found.addAll(temporary(machine));
        found.addAll(gpu(machine));
        return found;
    }

    /** How this program was started: the launcher takes a cache of loaded classes, if the build could make one. */
    private static String startup() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                        .anyMatch(flag -> flag.startsWith("-XX:AOTCache="))
                ? ", with a cache of loaded classes"
                : ", without a cache of loaded classes: starts take twice as long";
    }

    /** The library between Java and libfuse is unpacked there, and executed. */
    private static List<Finding> temporary(Machine machine) {
        Path directory = Path.of(System.getProperty("java.io.tmpdir"));
        String table = machine.text("proc/self/mounts");
        boolean refuses = table != null
                && table.lines()
                        .map(line -> line.split(" ", -1))
                        .anyMatch(fields -> fields.length > 3
                                && fields[1].equals(directory.toString())
                                && Arrays.asList(fields[3].split(",", -1)).contains("noexec"));
        return refuses
                ? List.of(Finding.problem(
                        "noexec",
                        directory + " is mounted noexec, and a library has to be loaded from there",
                        "export JDK_JAVA_OPTIONS=-Djava.io.tmpdir=DIRECTORY, one on another filesystem"))
                : List.of();
    }

    private static List<Finding> gpu(Machine machine) {
        if (!Files.exists(machine.root().resolve("dev/nvidiactl"))) {
            return List.of();
        }
        return List.of(
                machine.hasLibrary().test("libcuda.so.1")
                        ? Finding.ok("gpu", "the driver's library is there")
                        : Finding.note(
                                "gpu",
                                "there is a GPU, but libcuda.so.1 cannot be loaded: 'clairfs feed' can only fill memory of the host",
                                "give the container the driver: --gpus all"));
    }
}
