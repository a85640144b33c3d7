package io.clairfs.cache.stage;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Where a reader finds a sample without a request: on a mount, the kernel's page cache. */
public interface StagingArea {
    /**
     * Puts a whole file there. Blocks while a reader of the same file is being answered.
     *
     * @throws IOException when it could not be put there; a reader then has to ask for it
     */
    Staged stage(int file, MemorySegment bytes) throws IOException;

    /** A file that was put there, until it is dropped. */
    interface Staged {
        /** Takes the file out and releases what kept it there. */
        void drop();

        /**
         * Puts the same bytes there once more, where that needs nothing but the bytes. Blocks as {@link StagingArea#stage} does.
         *
         * @return false when the caller has to drop it and put it there anew
         */
        default boolean stageAgain(MemorySegment bytes) throws IOException {
            return false;
        }

        /** Whether all of it is still there, as far as can be told: the kernel may take back any of it. */
        default boolean isWhole() {
            return true;
        }
    }
}
