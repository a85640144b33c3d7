package io.clairfs.cache.source;

import java.lang.foreign.MemorySegment;

/** A source that reports files that changed since they were listed. */
public final class ChangeNotice extends ForwardingSource {
    private final Source source;
    private final Runnable changed;

    /** {@code changed} is called, on the reading thread, for each read of a file that changed since it was listed. */
    public ChangeNotice(Source source, Runnable changed) {
        super(source);
        this.source = source;
        this.changed = changed;
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
}
