package io.clairfs.cache.testing;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.clairfs.cache.view.Transform;
import io.clairfs.cache.view.UnfitFileException;
import java.lang.foreign.MemorySegment;

/**
 * A transformation for tests: files that begin with {@code T} are shown so many times one behind the other, files that begin with {@code B} are
 * broken, all others are shown as they are. The header of a file that begins with {@code L} is as long as the file.
 */
public record Repeating(int times) implements Transform {
    @Override
    public String identity() {
        return "repeating/1 times=" + times;
    }

    private static char first(MemorySegment file) {
        return file.byteSize() == 0 ? 0 : (char) file.get(JAVA_BYTE, 0);
    }

    @Override
    public long madeBytes(MemorySegment head, long fileBytes) throws UnfitFileException {
        return switch (first(head)) {
            case 'T' -> times * fileBytes;
            case 'L' -> head.byteSize() < fileBytes ? UNTOLD : times * fileBytes;
            case 'B' -> throw new UnfitFileException("broken");
            default -> AS_IT_IS;
        };
    }

    @Override
    public void make(MemorySegment file, MemorySegment into) throws UnfitFileException {
        if (first(file) == 'B') {
            throw new UnfitFileException("broken");
        }
        if (into.byteSize() != times * file.byteSize()) {
            throw new UnfitFileException("its size was not known");
        }
        for (int i = 0; i < times; i++) {
            into.asSlice(i * file.byteSize(), file.byteSize()).copyFrom(file);
        }
    }
}
