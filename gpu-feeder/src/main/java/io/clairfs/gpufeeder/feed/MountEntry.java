package io.clairfs.gpufeeder.feed;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The entry of a dataset in the table of mounts: it stays while the process that serves the dataset is started again. */
final class MountEntry {
    private static final Path TABLE = Path.of("/proc/self/mounts");
    private static final String TYPE = "fuse.clairfs";

    private MountEntry() {}

    /** Whether a dataset is mounted at {@code mountPoint}, whether its control files answer or not. */
    static boolean isThere(Path mountPoint) {
        try {
            return isIn(Files.readString(TABLE, ISO_8859_1), mountPoint)
                    && Files.isDirectory(mountPoint); // a connection that has ended is none
        } catch (IOException e) {
            return true; // nothing says that it is gone; whoever waits for it does so for a bounded time
        }
    }

    /**
     * Whether a table has the entry.
     *
     * @param table each byte of it is one character
     * @param mountPoint without links
     */
    static boolean isIn(String table, Path mountPoint) {
        String place = escaped(new String(mountPoint.toString().getBytes(UTF_8), ISO_8859_1));
        return table.lines()
                .map(line -> line.split(" ", -1))
                .anyMatch(fields -> fields.length > 2 && fields[1].equals(place) && fields[2].equals(TYPE));
    }

    /** As the kernel writes a path there. */
    private static String escaped(String path) {
        return path.replace("\\", "\\134")
                .replace(" ", "\\040")
                .replace("\t", "\\011")
                .replace("\n", "\\012");
    }
}
