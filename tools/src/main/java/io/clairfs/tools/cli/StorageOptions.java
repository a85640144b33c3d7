package io.clairfs.tools.cli;

import io.clairfs.tools.ByteSize;
import io.clairfs.tools.config.MountFile;
import io.clairfs.tools.node.config.MountSizes;
import io.clairfs.tools.node.config.SsdConfig;
import io.clairfs.tools.node.limits.MachineMemory;
import io.clairfs.tools.node.limits.MemoryBudget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options for where a mount keeps samples, and how many: in memory, on local disks, in the page cache. They take precedence over the file. */
final class StorageOptions {
    private static final long SMALLEST = 1 << 20;
    private static final long USUAL_RESERVE = 1L << 30;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            description =
                    "Memory for samples (default: a quarter of the free memory, less in a control group with a limit).")
    private @Nullable ByteSize memory;

    @Option(
            names = "--ssd",
            paramLabel = "DIR:SIZE",
            description =
                    "A directory on a local disk for samples, and how much of it; may be repeated, fastest first.")
    private List<String> ssds = new ArrayList<>();

    @Option(
            names = "--ssd-reserve",
            paramLabel = "SIZE",
            description = "Space that --ssd leaves free on its disks (default: 1GiB).")
    private @Nullable ByteSize ssdReserve;

    @Option(
            names = "--staging",
            paramLabel = "SIZE",
            description = "Page cache for staged samples (default: 1GiB, at most an eighth of the free memory).")
    private @Nullable ByteSize staging;

    /** The disks, fastest first. */
    List<SsdConfig> disks(MountFile said) {
        return SsdOption.parse(spec.commandLine(), ssds.isEmpty() && said.ssd() != null ? said.ssd() : ssds);
    }

    /**
     * The bytes that are left free on each disk.
     *
     * @param file where {@code said} was read, for messages; null if it was nowhere
     */
    long reserveBytes(MountFile said, @Nullable Path file) {
        return bytes(ssdReserve, size("ssd-reserve", said.ssdReserve(), file), USUAL_RESERVE);
    }

    /**
     * The sizes by the options and by what the machine has free now.
     *
     * @param file where {@code said} was read, for messages; null if it was nowhere
     */
    MountSizes sizes(MountFile said, @Nullable Path file, int disks, boolean hasPeers) {
        MachineMemory machine = MachineMemory.now();
        MemoryBudget usual = MemoryBudget.of(machine, Runtime.getRuntime().maxMemory(), disks, hasPeers);
        long stagingBytes = bytes(staging, size("staging", said.staging(), file), usual.stagingBytes());
        check(stagingBytes >= SMALLEST, "--staging must be at least 1MiB");
        check(
                stagingBytes <= Math.max(usual.stagingBytes(), machine.mostBytes()),
                "--staging " + mebibytes(stagingBytes) + " does not fit: " + mostOf(machine) + "; give less");
        ByteSize memorySaid = memory != null ? memory : size("memory", said.memory(), file);
        return memorySaid == null
                ? new MountSizes(usual.memoryBytes(), stagingBytes, usual)
                : new MountSizes(
                        memorySaid.bytes(),
                        stagingBytes,
                        besideMemory(memorySaid.bytes(), usual, machine, disks, hasPeers));
    }

    /** Sizes for a look at the other options alone: what the process that serves the mount has is free again when it has ended. */
    static MountSizes usual() {
        MemoryBudget usual =
                MemoryBudget.of(MachineMemory.now(), Runtime.getRuntime().maxMemory(), 0, false);
        return new MountSizes(usual.memoryBytes(), usual.stagingBytes(), usual);
    }

    /** Refuses a size that can never fit. For a size that fits, the heap shrinks. */
    private MemoryBudget besideMemory(
            long bytes, MemoryBudget usual, MachineMemory machine, int disks, boolean hasPeers) {
        long most = usual.mostMemoryBytes(machine, disks, hasPeers);
        String remedy = most >= SMALLEST ? "give --memory " + mebibytes(most) + " or less" : "raise that limit";
        check(
                bytes <= most,
                "--memory " + mebibytes(bytes) + " does not fit beside heap and buffers: " + mostOf(machine) + "; "
                        + remedy);
        return usual.withHeapBeside(bytes, machine, disks, hasPeers);
    }

    private static String mostOf(MachineMemory machine) {
        return (machine.groupBytes() < machine.totalBytes() ? "the control group leaves " : "the machine has ")
                + mebibytes(machine.mostBytes());
    }

    private static String mebibytes(long bytes) {
        return (bytes >> 20) + "MiB";
    }

    private static long bytes(@Nullable ByteSize onCommandLine, @Nullable ByteSize inFile, long otherwise) {
        return onCommandLine != null ? onCommandLine.bytes() : inFile != null ? inFile.bytes() : otherwise;
    }

    private @Nullable ByteSize size(String key, @Nullable String text, @Nullable Path file) {
        try {
            return text == null ? null : ByteSize.parse(text);
        } catch (TypeConversionException e) {
            throw new ParameterException(spec.commandLine(), file + ": " + key + ": " + e.getMessage(), e);
        }
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
