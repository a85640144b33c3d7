package io.clairfs.cache.view;

import java.lang.foreign.MemorySegment;

/**
 * Makes something else of the files of a dataset. The same bytes of a file give the same bytes on every machine, for ever, as long as the
 * {@link #identity} is the same. Used by many threads at once.
 */
public interface Transform {
    /** In place of a size: the file is shown as it is. */
    long AS_IT_IS = -1;

    /** In place of a size: more of the file is needed to tell. */
    long UNTOLD = -2;

    /** Name, version, parameters and decoders: one line, without control characters. Two transformations that may differ in one byte differ here. */
    String identity();

    /**
     * Bytes of what is made of a file, {@link #AS_IT_IS}, or {@link #UNTOLD} unless {@code head} is the whole file.
     *
     * @param head the first bytes of the file
     * @param fileBytes the length of the whole file
     * @throws UnfitFileException when nothing can be made of it, as far as {@code head} tells
     */
    long madeBytes(MemorySegment head, long fileBytes) throws UnfitFileException;

    /**
     * Fills all of {@code into}. To be called for files that are not shown as they are. May keep the calling thread until other calls have ended.
     *
     * @param file the whole file, in native memory
     * @throws UnfitFileException when nothing can be made of it, or when it is not {@code into}'s size
     */
    void make(MemorySegment file, MemorySegment into) throws UnfitFileException;
}
