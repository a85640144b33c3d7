package io.clairfs.cache.source;

import io.clairfs.cache.posix.FileStatus;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A source that tells of files which are not as they were listed. */
public final class ChangeNotice implements Source {
    private final Source source;
    private final Runnable changed;

    /** {@code changed} is called, on the reading thread, for each read of a file that is another than was listed. */
    public ChangeNotice(Source source, Runnable changed) {
        this.source = source;
        this.changed = changed;
    }

    @Override
    public List<byte[]> names(byte[] directory) throws SourceException {
        return source.names(directory);
    }

    @Override
    public FileStatus status(byte[] path) throws SourceException {
        return source.status(path);
    }

    @Override
    public byte[] linkTarget(byte[] path) throws SourceException {
        return source.linkTarget(path);
    }

    @Override
    public void read(SourceFile file, long offset, MemorySegment into) throws SourceException {
        try {
            source.read(file, offset, into);
        } catch (SourceChangedException e) {
            changed.run();
            throw e;
        }
    }

    @Override
    public void read(SourceFile file, MemorySegment into, Pieces pieces) throws SourceException {
        try {
            source.read(file, into, pieces);
        } catch (SourceChangedException e) {
            changed.run();
            throw e;
        }
    }

    @Override
    public void close() {
        source.close();
    }
}
