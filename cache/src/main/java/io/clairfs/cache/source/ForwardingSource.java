package io.clairfs.cache.source;

import io.clairfs.cache.posix.FileStatus;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A source over another one. A subclass overrides what it does differently. A read by pieces calls {@link #read(SourceFile, long, MemorySegment)}. */
public abstract class ForwardingSource implements Source {
    private final Source source;

    /** Forwards to {@code source}, and closes it. */
    protected ForwardingSource(Source source) {
        this.source = source;
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
    public @Nullable FileStatus statusBehind(byte[] link) throws SourceException {
        return source.statusBehind(link);
    }

    @Override
    public void read(SourceFile file, long offset, MemorySegment into) throws SourceException {
        source.read(file, offset, into);
    }

    @Override
    public void close() {
        source.close();
    }
}
