package io.clairfs.tools.doctor;

import io.clairfs.tools.node.limits.MachineMemory;
import io.clairfs.tools.node.limits.MemoryBudget;
import io.clairfs.tools.node.status.StatusText;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import tools.jackson.databind.JsonNode;

/** What the machine and a scheduler leave a daemon: memory, swap, descriptors. */
final class LimitChecks implements Check {
    private static final long MIB = 1 << 20;
    private static final long KIB = 1 << 10;
    private static final long FEW_DESCRIPTORS = 4096;
    private static final long TOO_FEW_DESCRIPTORS = 512;
    private static final long LITTLE_MEMORY = 1 << 30;
    private static final long SWAPPED = 64 * MIB;

    @Override
    public List<Finding> look(Examined examined) {
        List<Finding> found = new ArrayList<>();
        Running running = examined.running();
        found.add(running == null ? memoryBefore(examined) : memoryNow(examined, running));
        found.add(running == null ? swapBefore(examined.machine()) : swapNow(examined.machine(), running));
        found.add(descriptors(examined));
        return found;
    }

    private static Finding memoryBefore(Examined examined) {
        MachineMemory memory = MachineMemory.of(examined.machine().root());
        boolean limited = memory.mostBytes() < memory.totalBytes();
        String whose = limited ? "the control group leaves " : "the machine has ";
        int ssds = examined.wanted().ssds().size();
        boolean hasPeers = examined.wanted().bind() != null;
        MemoryBudget budget = MemoryBudget.of(memory, Runtime.getRuntime().maxMemory(), ssds, hasPeers);
        Long asked = examined.wanted().memoryBytes();
        long most = budget.mostMemoryBytes(memory, ssds, hasPeers);
        if (asked != null && asked > most) {
            return Finding.problem(
                    "memory",
                    whose + StatusText.size(memory.mostBytes()) + ", and --memory " + StatusText.size(asked)
                            + " does not fit beside heap and buffers",
                    most >= MIB ? "--memory " + (most / MIB) + "MiB, or a larger limit" : "a larger limit");
        }
        if (asked != null && asked > memory.availableBytes()) {
            return Finding.note(
                    "memory",
                    "--memory " + StatusText.size(asked) + " is more than the "
                            + StatusText.size(memory.availableBytes()) + " that are free now",
                    "end what uses the rest, or give less");
        }
        if (memory.availableBytes() < LITTLE_MEMORY) {
            return Finding.note(
                    "memory",
                    "only " + StatusText.size(memory.availableBytes())
                            + " are free, so little is kept in memory and staged",
                    limited ? "raise the job's limit, such as --mem" : "give --ssd");
        }
        return Finding.ok(
                "memory",
                whose + StatusText.size(memory.mostBytes()) + ", " + StatusText.size(memory.availableBytes())
                        + " free; " + StatusText.size(asked == null ? budget.memoryBytes() : asked) + " for samples");
    }

    /** Compares what a daemon may still take with what its control group leaves it. Staged pages go before the group is killed. */
    private static Finding memoryNow(Examined examined, Running running) {
        Machine machine = examined.machine();
        JsonNode memory = running.status().path("memory");
        long most = memory.path("total_bytes").asLong()
                - memory.path("areas").path("staging").asLong();
        long has = machine.figure("proc/" + running.pid() + "/status", "VmRSS").orElse(0) * KIB;
        long more = Math.max(0, most - has);
        MachineMemory now = MachineMemory.of(machine.root(), Long.toString(running.pid()));
        if (more > now.availableBytes()) {
            return Finding.problem(
                    "memory",
                    "the daemon has " + StatusText.size(has) + " and may take " + StatusText.size(more) + " more, but "
                            + StatusText.size(now.availableBytes()) + " are left: the kernel may kill it",
                    "mount again with a smaller --memory, or raise the limit");
        }
        return Finding.ok(
                "memory",
                "the daemon has " + StatusText.size(has) + ", takes " + StatusText.size(most) + " at most, and "
                        + StatusText.size(now.availableBytes()) + " are left");
    }

    private static Finding swapBefore(Machine machine) {
        long total = machine.figure("proc/meminfo", "SwapTotal").orElse(0) * KIB;
        long used = total - machine.figure("proc/meminfo", "SwapFree").orElse(0) * KIB;
        return used > LITTLE_MEMORY
                ? Finding.note(
                        "swap",
                        StatusText.size(used) + " of memory lie in swap, and a tier in memory would go there too",
                        "a smaller --memory")
                : Finding.ok("swap", total == 0 ? "none" : "hardly used");
    }

    private static Finding swapNow(Machine machine, Running running) {
        long swapped =
                machine.figure("proc/" + running.pid() + "/status", "VmSwap").orElse(0) * KIB;
        return swapped > SWAPPED
                ? Finding.problem(
                        "swap",
                        StatusText.size(swapped)
                                + " of the daemon lie in swap: its memory tier is as slow as that disk",
                        "mount again with a smaller --memory, or swapoff -a")
                : Finding.ok("swap", "the daemon is not in it");
    }

    /** The JVM raises its soft limit to the hard one. */
    private static Finding descriptors(Examined examined) {
        Running running = examined.running();
        String process = running == null ? "self" : Long.toString(running.pid());
        OptionalLong most = hardLimit(examined.machine(), process);
        if (most.isEmpty()) {
            return Finding.ok("descriptors", "not limited here");
        }
        long limit = most.getAsLong();
        if (limit < FEW_DESCRIPTORS) {
            String what = "a process may have " + limit + ", half of them for staged samples";
            String remedy = "LimitNOFILE=65536 in the unit, or as root: ulimit -n 65536";
            return limit < TOO_FEW_DESCRIPTORS
                    ? Finding.problem("descriptors", what + ": too few for a mount's connections and files", remedy)
                    : Finding.note("descriptors", what, remedy);
        }
        return Finding.ok("descriptors", limit + " for a process");
    }

    private static OptionalLong hardLimit(Machine machine, String process) {
        String limits = machine.text("proc/" + process + "/limits");
        return limits == null
                ? OptionalLong.empty()
                : limits.lines()
                        .filter(line -> line.startsWith("Max open files"))
                        .map(line -> line.substring("Max open files".length())
                                .strip()
                                .split("\\s+", -1))
                        .filter(values -> values.length > 1 && values[1].matches("[0-9]{1,18}"))
                        .mapToLong(values -> Long.parseLong(values[1]))
                        .findFirst();
    }
}
