package io.clairfs.fs.slow;

import io.clairfs.cache.posix.PosixException;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseSession;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountTable;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;

/** A {@link SlowSource} that this process mounts. The same JVM must not read it through the JDK's file classes. */
public final class SlowMount implements AutoCloseable {
    static final String SUBTYPE = "clairfs-slow";

    private static final Logger LOG = System.getLogger(SlowMount.class.getName());

    private final SlowSource source;
    private final FuseSession session;

    private SlowMount(SlowSource source, FuseSession session) {
        this.source = source;
        this.session = session;
    }

    /**
     * Mounts {@code directory} at {@code point}, an empty directory. A slow source that a killed process left there is removed first.
     *
     * @throws MountException with the reason when that is not possible
     */
    public static SlowMount mount(Path directory, Path point, SlowSourceSpec spec) throws IOException {
        return mount(directory, point, spec, SlowSource.OPTIONS);
    }

    static SlowMount mount(Path directory, Path point, SlowSourceSpec spec, List<String> options) throws IOException {
        Path absolute = point.toAbsolutePath().normalize();
        removeLeftover(absolute);
        SlowSource source = open(directory, spec);
        try {
            FuseSession session = FuseSession.mount(absolute, options, source, new ErrnoTable(SlowMount::failed));
            var _ = session.ended().thenRun(source::close);
            return new SlowMount(source, session);
        } catch (IOException e) {
            source.close();
            throw e;
        }
    }

    private static SlowSource open(Path directory, SlowSourceSpec spec) throws MountException {
        try {
            return new SlowSource(directory, spec);
        } catch (PosixException e) {
            throw new MountException("slow source " + directory + ": " + e.getMessage());
        }
    }

    private static void failed(String operation, byte[] path, String reason) {
        LOG.log(Level.DEBUG, "{0}: {1}", operation, reason);
    }

    /** Detaches all slow sources that are mounted at {@code point}. */
    public static void removeLeftover(Path point) throws IOException {
        while (MountTable.at(point)
                .filter(m -> m.type().equals("fuse." + SUBTYPE))
                .isPresent()) {
            Fusermount.detach(point);
        }
    }

    public Path point() {
        return session.point();
    }

    /** The opens and reads so far. */
    public SourceReads counted() {
        return source.counted();
    }

    /** As {@link SlowSource#bytesBelow}. */
    public long bytesBelow(String top) {
        return source.bytesBelow(top);
    }

    /** Unmounts; a reader that still holds a file open keeps that file. */
    @Override
    public void close() {
        session.close();
    }
}
