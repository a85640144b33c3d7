package io.clairfs.tools.node.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The place where the control files of a mount are mounted: inside the mount or, for an ordinary user, in a separate directory to which the
 * mount has a link.
 *
 * <p>Only the user of a FUSE mount may look into it. For an ordinary user fusermount does the mounting. It runs as root, so it cannot mount
 * anything inside. See docs/decisions/control-link.md.
 *
 * @param linked whether the mount has a link to {@code path}, which is then a directory of ours
 */
public record ControlPoint(Path path, boolean linked) implements AutoCloseable {
    private static final String TYPE = "fuse.clairfs-control";
    private static final String PREFIX = "clairfs-control-";

    /** The place for the control files of a mount. For an ordinary user it is a new directory, which {@link #close} removes. */
    public static ControlPoint of(Path mountPoint) throws IOException {
        return ProcessIdentity.userId() == 0
                ? new ControlPoint(mountPoint.resolve(DatasetMount.CONTROL_DIRECTORY), false)
                : new ControlPoint(in(temporary(System.getenv("TMPDIR"))), true);
    }

    /** A new directory for control files. */
    static Path in(Path temporary) throws IOException {
        try {
            return Files.createTempDirectory(temporary, PREFIX).toRealPath();
        } catch (IOException e) {
            throw new MountException("no directory for the control files can be made in " + temporary + " ("
                    + e.getClass().getSimpleName()
                    + "): set TMPDIR to a directory on this node that you may write to, or unset it");
        }
    }

    /** The directory of temporary files: a job with a /tmp of its own does not see what lies in that of others. */
    static Path temporary(@Nullable String named) {
        return Path.of(named == null || named.isEmpty() ? System.getProperty("java.io.tmpdir") : named);
    }

    /** The target of the link; null without one. */
    public byte @Nullable [] link() {
        return linked ? path.toString().getBytes(UTF_8) : null;
    }

    /** Whether the mount table has control files of a mount at {@code mountPoint}. They may still not answer. */
    public static boolean isMounted(Path mountPoint) throws IOException {
        return MountTable.all().stream()
                .anyMatch(m -> m.type().equals(TYPE) && m.device().equals(mountPoint.toString()));
    }

    /** Removes the control files of a mount that is itself gone; the mount table names it as their device. */
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
