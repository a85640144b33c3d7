package io.clairfs.tools.mount;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The faults of docs/TESTING.md that a long run must meet, as the report counts them, and how often. */
final class StressNeeds {
    /** The strikes of each fault in an hour. */
    private static final long AN_HOUR = 100;

    private static final long MINUTES = 60;

    /** The beginnings of their names in the report. */
    private static final List<String> KINDS = List.of(
            "source: eio",
            "source: enoent",
            "source: eacces",
            "source: etimedout",
            "source: delay",
            "source: hang",
            "source: short_read",
            "source: cut",
            "source: truncated",
            "source: replaced",
            "source: resized",
            "source: restored",
            "source's process stopped",
            "source's process killed",
            "directory not listed",
            "directory hangs",
            "disk: bits flipped",
            "disk: segment cut",
            "disk: segment deleted",
            "disk: segment replaced",
            "disk: link planted",
            "disk: eio",
            "disk: hang",
            "disk: delay",
            "disk full",
            "disk read only",
            "disk refuses writes",
            "link planted in the source",
            "link planted for the log",
            "pages given back",
            "memory squeezed",
            "clock jump",
            "daemon suspended",
            "reports flooded",
            "too few: " + KernelSetting.WATCHES,
            "too few: " + KernelSetting.INSTANCES,
            "too few: " + KernelSetting.QUEUE,
            "fusermount missing",
            "peer: flipped bits",
            "peer: garbage",
            "peer: silence",
            "daemon ended: UMOUNT",
            "daemon ended: TERMINATE",
            "daemon ended: KILL",
            "wrong job line");

    private StressNeeds() {}

    private static long struck(Map<String, Long> faults, String kind) {
        return faults.entrySet().stream()
                .filter(e -> e.getKey().startsWith(kind))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /** A line for each fault that struck less often than required in {@code minutes}. */
    static List<String> below(Map<String, Long> faults, double minutes) {
        long needed = (long) Math.ceil(AN_HOUR * minutes / MINUTES);
        List<String> below = new ArrayList<>();
        for (String kind : KINDS) {
            long struck = struck(faults, kind);
            if (struck < needed) {
                below.add(String.format(Locale.ROOT, "%s struck %d times, not %d", kind, struck, needed));
            }
        }
        return below;
    }

    /** The fault that struck least often, for the progress line. */
    static String rarest(Map<String, Long> faults) {
        String rarest = KINDS.stream()
                .min((a, b) -> Long.compare(struck(faults, a), struck(faults, b)))
                .orElseThrow();
        return rarest + " " + struck(faults, rarest);
    }
}
