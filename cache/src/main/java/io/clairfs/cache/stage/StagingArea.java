package io.clairfs.cache.stage;

import io.clairfs.cache.source.SourceException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where a reader finds a sample without a request: on a mount, the kernel's page cache. */
public interface StagingArea {
    /**
     * Puts a whole file there. Blocks while a reader of the same file is being answered.
     *
     * @throws IOException when it could not be put there; a reader then has to ask for it
     */
    Staged stage(int file, MemorySegment bytes) throws IOException;

    /**
     * The same of a file that a reader was first to read, so that it is there but for a little: only what is missing is put there.
     *
     * @throws IOException also when much is missing, or where that cannot be told; nothing was put there then
     */
    default Staged stageRead(int file, MemorySegment bytes) throws IOException {
        throw new IOException("what readers have fetched cannot be told");
    }

    /** A part of a file, bytes. */
    record Part(long offset, long bytes) {}

    /** Reads a part of a file. */
    @FunctionalInterface
    interface Parts {
        /** Fills {@code into} with the bytes from {@code offset} on. */
        void read(long offset, MemorySegment into) throws SourceException;
    }

    /** A file that was put there, until it is dropped. */
    interface Staged {
        /** Takes the file out and releases what kept it there. */
        void drop();

        /**
         * Puts the same bytes there once more, from {@code offset} on, where that needs nothing but the bytes. Blocks as {@link StagingArea#stage} does.
         *
         * @return false when the caller has to drop it and put it there anew
         */
        default boolean stageAgain(long offset, MemorySegment bytes) throws IOException {
            return false;
        }

        /** The parts of it that are not there any more, a MiB each at most; null where that cannot be told. */
        default @Nullable List<Part> missing() {
            return null;
        }

        /** Whether all of it is still there, as far as can be told: the kernel may take back any of it. */
        default boolean isWhole() {
            return true;
        }
    }
}
