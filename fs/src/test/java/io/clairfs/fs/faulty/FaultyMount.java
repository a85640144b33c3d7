package io.clairfs.fs.faulty;

import io.clairfs.cache.posix.PosixException;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseSession;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountTable;
import io.clairfs.fs.slow.SlowSource;
import io.clairfs.fs.slow.SlowSourceSpec;
import io.clairfs.fs.slow.SourceReads;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A directory that is mounted in this process as a source that fails when told to. This JVM must not read it through the JDK's file classes;
 * the directory itself it may.
 *
 * <p>Requests that a fault holds up are released when it is lifted, at its bound, and by {@link #close} at the latest: while one of them is under
 * way, the kernel lets nobody end the thread that waits for it.
 */
public final class FaultyMount implements AutoCloseable {
    /** As fast as the directory itself. */
    public static final SlowSourceSpec FAST = new SlowSourceSpec(1L << 34, Duration.ZERO);

    private final FuseSession session;
    private final SlowSource base;
    private final Faults faults;
    private final SourceFiles files;

    private FaultyMount(FuseSession session, SlowSource base, Faults faults, SourceFiles files) {
        this.session = session;
        this.base = base;
        this.faults = faults;
        this.files = files;
    }

    /**
     * Shows {@code directory} at {@code point}, an empty directory. What a killed process left mounted there is removed first.
     *
     * @param options more of FUSE's, such as {@code allow_other}
     * @throws MountException with the reason when that is not possible
     */
    public static FaultyMount mount(Path directory, Path point, SlowSourceSpec speed, String... options)
            throws IOException {
        Path absolute = point.toAbsolutePath().normalize();
        removeLeftover(absolute);
        SlowSource base;
        try {
            base = new SlowSource(directory, speed);
        } catch (PosixException e) {
            throw new MountException("faulty source " + directory + ": " + e.getMessage());
        }
        Faults faults = new Faults();
        SourceFiles files = new SourceFiles(directory, faults);
        List<String> all = new ArrayList<>(FaultySource.OPTIONS);
        all.addAll(List.of(options));
        try {
            FuseSession session = FuseSession.mount(
                    absolute, all, new FaultySource(base, faults, files), new ErrnoTable((_, _, _) -> {}));
            var _ = session.ended().thenRun(base::close);
            return new FaultyMount(session, base, faults, files);
        } catch (IOException e) {
            base.close();
            throw e;
        }
    }

    /** Takes away whatever faulty sources are mounted at {@code point}. */
    public static void removeLeftover(Path point) throws IOException {
        while (MountTable.at(point)
                .filter(m -> m.type().equals("fuse." + FaultySource.SUBTYPE))
                .isPresent()) {
            Fusermount.detach(point);
        }
    }

    public Path point() {
        return session.point();
    }

    /** From now on requests go wrong as {@code spec} says. */
    public Fault inject(FaultSpec spec) {
        return faults.add(spec);
    }

    /** Ends all faults; changes of files stay. */
    public void liftAll() {
        faults.liftAll();
    }

    /** To change files, and to know what they should be. */
    public SourceFiles files() {
        return files;
    }

    /** How many requests went wrong, by kind and request ({@code eio read}), and how many files were changed, by how. */
    public Map<String, Long> counted() {
        return faults.counted();
    }

    /** What was opened and read until now. */
    public SourceReads reads() {
        return base.counted();
    }

    /** Ends all faults and unmounts; a reader that still holds a file open keeps that file. */
    @Override
    public void close() {
        faults.end();
        session.close();
    }
}
