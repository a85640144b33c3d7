package io.clairfs.tools.node.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where the control files of a mount are mounted: inside it, or, for an ordinary user, in a directory of their own that the mount has a
 * link to.
 *
 * <p>The kernel lets nobody but the user of a FUSE mount look into it, and fusermount, which mounts for an ordinary user, runs
 * as root. So it cannot mount anything there. See docs/decisions/control-link.md.
 *
 * @param linked whether the mount has a link to {@code path}, which then is a directory of ours
 */
public record ControlPoint(Path path, boolean linked) implements AutoCloseable {
    private static final String TYPE = "fuse.clairfs-control";
    private static final String PREFIX = "clairfs-control-";

    public static ControlPoint of(Path mountPoint) throws IOException {
        return ProcessIdentity.userId() == 0
                ? new ControlPoint(mountPoint.resolve(DatasetMount.CONTROL_DIRECTORY), false)
                : new ControlPoint(Files.createTempDirectory(PREFIX).toRealPath(), true);
    }

    /** What the link says, if there is one. */
    public byte @Nullable [] link() {
        return linked ? path.toString().getBytes(UTF_8) : null;
    }

    /** Whether control files of a mount at {@code mountPoint} are mounted, as the kernel says; whether they answer is another matter. */
    public static boolean isMounted(Path mountPoint) throws IOException {
        return MountTable.all().stream()
                .anyMatch(m -> m.type().equals(TYPE) && m.device().equals(mountPoint.toString()));
    }

    /** Takes away the control files of a mount that is gone itself; they bear its name. */
    static void removeLeftOf(Path mountPoint) throws IOException {
        for (MountTable.Mount mount : MountTable.all()) {
            if (mount.type().equals(TYPE)
                    && mount.device().equals(mountPoint.toString())
                    && mount.point().getFileName().toString().startsWith(PREFIX)) {
                Fusermount.detach(mount.point());
                Files.deleteIfExists(mount.point());
            }
        }
    }

    @Override
    public void close() throws IOException {
        if (linked) {
            Files.deleteIfExists(path);
        }
    }
}
