package io.clairfs.tools.node.limits;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The memory that the control groups of a process leave it: the least of limit minus usage, over its group and all groups above.
 *
 * <p>A batch job or a systemd unit has a group of its own, some levels below the mount point of the hierarchy. The process's file {@code
 * cgroup} names the group; {@code /proc/self/mountinfo} says where hierarchies are mounted, and which part of them. Versions 1 and 2 may be
 * mounted side by side. Pages of files count as free, because the kernel reclaims them before it refuses anything.
 *
 * @param process its name below {@code /proc}, such as {@code self}
 */
record ControlGroups(Path root, String process) {
    private static final String FIRST = "cgroup";
    private static final String SECOND = "cgroup2";

    /** A number from this one on means no limit, as version 1 shows it. */
    private static final long NO_LIMIT = 1L << 60;

    /** A mounted hierarchy: the group that is seen at its mount point, the mount point, and whether it is of version 2. */
    private record Mounted(String group, String point, boolean second) {}

    /** The bytes that are left; {@link Long#MAX_VALUE} without a limit. */
    long availableBytes() {
        List<String> groups = lines("proc/" + process + "/cgroup");
        List<String> mounts = lines("proc/self/mountinfo");
        long least = Long.MAX_VALUE;
        for (String line : groups) {
            String[] fields = line.split(":", 3); // number, controllers, group
            if (fields.length < 3) {
                continue;
            }
            boolean second = fields[1].isEmpty();
            if (second || List.of(fields[1].split(",", -1)).contains("memory")) {
                for (String mount : mounts) {
                    Mounted mounted = mounted(mount);
                    if (mounted != null && mounted.second == second) {
                        least = Math.min(least, available(mounted, utf8(fields[2])));
                    }
                }
            }
        }
        return least;
    }

    private List<String> lines(String file) {
        try {
            return Files.readAllLines(root.resolve(file), ISO_8859_1); // a name that is not UTF-8 would hide all others
        } catch (IOException none) {
            return List.of();
        }
    }

    private static @org.jspecify.annotations.Nullable Mounted mounted(String line) {
        String[] halves = line.split(" - ", 2);
        String[] where = halves[0].split(" ", -1);
        String[] what = halves.length < 2 ? new String[0] : halves[1].split(" ", -1);
        if (where.length < 5 || what.length < 3) {
            return null;
        }
        boolean second = what[0].equals(SECOND);
        boolean first =
                what[0].equals(FIRST) && Arrays.asList(what[2].split(",", -1)).contains("memory");
        return first || second ? new Mounted(unescape(where[3]), unescape(where[4]), second) : null;
    }

    private static String unescape(String text) {
        String bytes = text.replace("\\040", " ")
                .replace("\\011", "\t")
                .replace("\\012", "\n")
                .replace("\\134", "\\");
        return utf8(bytes);
    }

    private static String utf8(String bytes) {
        return new String(bytes.getBytes(ISO_8859_1), UTF_8);
    }

    private long available(Mounted mounted, String group) {
        Path top = root.resolve(mounted.point.substring(1)).normalize();
        long least = Long.MAX_VALUE;
        for (Path at = top.resolve(below(mounted.group, group)).normalize();
                at != null && at.startsWith(top);
                at = at.getParent()) {
            least = Math.min(least, mounted.second ? second(at) : first(at));
        }
        return least;
    }

    /** The group's path below the mount point; empty, for the mount point itself, if the group is not seen there, as in some containers. */
    private static String below(String seen, String group) {
        if (seen.equals("/")) {
            return group.contains("..") ? "" : group.substring(1);
        }
        return group.startsWith(seen + "/") ? group.substring(seen.length() + 1) : "";
    }

    private static long first(Path group) {
        long limit = number(group.resolve("memory.limit_in_bytes"));
        return left(limit, group, "memory.usage_in_bytes", "total_inactive_file", "total_active_file");
    }

    /** {@code memory.high} counts as a limit: the kernel slows a group above it down until the group has shrunk. */
    private static long second(Path group) {
        long limit = Math.min(number(group.resolve("memory.max")), number(group.resolve("memory.high")));
        return left(limit, group, "memory.current", "inactive_file", "active_file");
    }

    private static long left(long limit, Path group, String usage, String... pagesOfFiles) {
        if (limit >= NO_LIMIT) {
            return Long.MAX_VALUE;
        }
        long used = number(group.resolve(usage));
        if (used >= NO_LIMIT) {
            return limit;
        }
        for (String pages : pagesOfFiles) {
            used -= figure(group.resolve("memory.stat"), pages);
        }
        return Math.clamp(limit - Math.max(0, used), 0, limit);
    }

    /** The number in a file; {@link Long#MAX_VALUE} for {@code max}, and if there is no such file. */
    private static long number(Path file) {
        try {
            String text = Files.readString(file).strip();
            return text.equals("max") ? Long.MAX_VALUE : Long.parseLong(text);
        } catch (IOException | NumberFormatException none) {
            return Long.MAX_VALUE;
        }
    }

    private static long figure(Path file, String name) {
        try {
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith(name + " ")) {
                    return Long.parseLong(line.substring(name.length() + 1).strip());
                }
            }
        } catch (IOException | NumberFormatException none) {
            return 0;
        }
        return 0;
    }
}
