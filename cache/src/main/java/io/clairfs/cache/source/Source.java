package io.clairfs.cache.source;

import io.clairfs.cache.posix.FileStatus;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The slow store that holds the dataset. Read only.
 *
 * <p>Paths are bytes relative to the root, without slashes at either end; the empty path is the root. Calls block for as
 * long as the store takes and may be made from many threads at once. Every failure is a {@link SourceException}; a call
 * never returns less than it promises.
 */
public interface Source extends AutoCloseable {
    /** The names in a directory, in no particular order, without "." and "..". Opens no file. */
    List<byte[]> names(byte[] directory) throws SourceException;

    /** Status of the file itself; a symbolic link is not followed. */
    FileStatus status(byte[] path) throws SourceException;

    /** The target of a symbolic link. */
    byte[] linkTarget(byte[] path) throws SourceException;

    /**
     * Status of what a symbolic link leads to, which may be outside of the source: nothing but the status of that is looked at. Null when
     * it leads nowhere, or where this process may not look. A store without links need not implement it.
     */
    default @Nullable FileStatus statusBehind(byte[] link) throws SourceException {
        return null;
    }

    /**
     * Fills all of {@code into} with the bytes of {@code file} from {@code offset} on. The file is checked against the listed size and
     * modification time, before and after reading.
     *
     * @throws SourceChangedException when it is not the listed file any more, or changed while it was read
     */
    void read(SourceFile file, long offset, MemorySegment into) throws SourceException;

    /**
     * Fills {@code into} with all bytes of {@code file}, a piece at a time, as {@code pieces} says. A piece is reported as read only after
     * the file was found unchanged.
     *
     * @throws SourceChangedException as {@link #read(SourceFile, long, MemorySegment)}
     */
    default void read(SourceFile file, MemorySegment into, Pieces pieces) throws SourceException {
        if (file.size() == 0) {
            read(file, 0, into);
        }
        long at = 0;
        for (long bytes; (bytes = pieces.next(at)) > 0; at += bytes) {
            read(file, at, into.asSlice(at, bytes));
        }
    }

    /** Decides when and how far a file is read on, to share the store between readers. */
    @FunctionalInterface
    interface Pieces {
        /**
         * Called when everything before {@code at} has been read. Returns how many bytes to read next, 0 at the end of the file; blocks
         * until their turn.
         */
        long next(long at) throws SourceException;
    }

    /** Ends the use of the store; calls under way may fail. */
    @Override
    void close();

    /**
     * One file as it was listed.
     *
     * @param path bytes relative to the root
     * @param size bytes
     * @param mtimeNs nanoseconds since 1970
     */
    record SourceFile(byte[] path, long size, long mtimeNs) {}
}
