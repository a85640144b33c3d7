package io.clairfs.tools.doctor;

import io.clairfs.tools.node.limits.MachineMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the kernel's age means for a mount. */
final class KernelChecks implements Check {
    private static final String NAME = "kernel";
    private static final Pattern VERSION = Pattern.compile("([0-9]{1,4})\\.([0-9]{1,4}).*");
    private static final long TIGHT = 4L << 30;

    /** A release as one number that grows with it. */
    private static int release(int major, int minor) {
        return major * 10_000 + minor;
    }

    @Override
    public List<Finding> look(Examined examined) {
        List<Finding> found = new ArrayList<>();
        String text = examined.machine().text("proc/sys/kernel/osrelease");
        Matcher version = VERSION.matcher(text == null ? "" : text);
        if (version.matches()) {
            found.add(age(
                    String.valueOf(text),
                    release(Integer.parseInt(version.group(1)), Integer.parseInt(version.group(2)))));
        }
        Finding reclaim = reclaim(examined.machine());
        if (reclaim != null) {
            found.add(reclaim);
        }
        return found;
    }

    private static Finding age(String text, int release) {
        if (release < release(5, 4)) {
            return Finding.problem(
                    NAME, "Linux " + text + " is older than 5.4, whose FUSE protocol a mount needs", "a newer kernel");
        }
        if (release < release(5, 6)) {
            return Finding.note(
                    NAME,
                    "Linux " + text
                            + " lacks openat2 (5.6): a directory of the source that becomes a link after the listing is not noticed",
                    "a newer kernel, or a source that nobody changes");
        }
        if (release < release(6, 5)) {
            return Finding.note(
                    NAME,
                    "Linux " + text
                            + " lacks cachestat (6.5): staged pages that the kernel takes back are not staged again",
                    "a newer kernel, or enough free memory for --staging");
        }
        return Finding.ok(NAME, "Linux " + text);
    }

    /** Under the multi-generation LRU staged pages are not moved to the list of those in use; see docs/decisions/push-twice.md. */
    private static @Nullable Finding reclaim(Machine machine) {
        String enabled = machine.text("sys/kernel/mm/lru_gen/enabled");
        if (enabled == null) {
            return null;
        }
        boolean on = !enabled.matches("0|0x0+");
        return on && MachineMemory.of(machine.root()).availableBytes() < TIGHT
                ? Finding.note(
                        "lru_gen",
                        "is on and little memory is free: the kernel may take staged pages back before they are read",
                        "a smaller --memory, or as root: echo n > /sys/kernel/mm/lru_gen/enabled")
                : Finding.ok("lru_gen", on ? "on, and there is memory enough" : "off");
    }
}
