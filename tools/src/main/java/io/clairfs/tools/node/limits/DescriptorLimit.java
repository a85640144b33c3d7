package io.clairfs.tools.node.limits;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The number of file descriptors that this process may have. The JVM itself raises its soft limit to the hard one. */
public final class DescriptorLimit {
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final String LINE = "Max open files";
    private static final long MODEST = 1024;

    private DescriptorLimit() {}

    /** The current limit. A modest value if it cannot be read. */
    public static long ofThisProcess() {
        try {
            return Files.readAllLines(LIMITS).stream()
                    .filter(line -> line.startsWith(LINE))
                    .map(line -> line.substring(LINE.length()).strip().split("\\s+", 2)[0])
                    .mapToLong(soft -> soft.equals("unlimited") ? Integer.MAX_VALUE : Long.parseLong(soft))
                    .findFirst()
                    .orElse(MODEST);
        } catch (IOException e) {
            return MODEST;
        }
    }
}
