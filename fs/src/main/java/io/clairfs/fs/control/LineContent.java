package io.clairfs.fs.control;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * A content of many lines that are made whenever they are read, so that a file with a line for each of millions of samples holds few of them.
 *
 * <p>It remembers where the last read ended, and the offset of every line passed whose number is a multiple of {@value #MARK_EVERY}. Reading from
 * front to back makes each line once, and again only where a read ended within it. A jump back makes at most {@value #MARK_EVERY} lines more than
 * it needs, a jump forward all lines between.
 */
public final class LineContent implements ControlContent {
    private static final int MARK_EVERY = 1024;

    private final int count;
    private final IntFunction<byte[]> lines;
    private final long heldElsewhere;

    /** The offsets of lines 0, {@value #MARK_EVERY}, 2 x {@value #MARK_EVERY} and so on, as far as they are known. */
    private long[] marks = new long[1];

    private int marked = 1;
    private int lastLine;
    private long lastOffset;

    /**
     * A content of {@code count} lines.
     *
     * @param lines makes the line of a number, its end included; always the same one
     * @param heldElsewhere heap that {@code lines} needs, bytes
     */
    public LineContent(int count, IntFunction<byte[]> lines, long heldElsewhere) {
        this.count = count;
        this.lines = lines;
        this.heldElsewhere = heldElsewhere;
    }

    @Override
    public synchronized int read(long offset, MemorySegment into) {
        int line = lastLine;
        long at = lastOffset;
        if (offset < at) {
            int mark = Arrays.binarySearch(marks, 0, marked, offset);
            mark = mark < 0 ? -mark - 2 : mark;
            line = mark * MARK_EVERY;
            at = marks[mark];
        }
        int copied = 0;
        while (line < count && copied < into.byteSize()) {
            byte[] text = lines.apply(line);
            int from = Math.clamp(offset + copied - at, 0, text.length); // the line may begin or end before the offset
            int length = (int) Math.clamp(text.length - from, 0L, into.byteSize() - copied);
            if (length > 0) {
                MemorySegment.copy(text, from, into, JAVA_BYTE, copied, length);
                copied += length;
            }
            if (from + length < text.length) {
                break; // the next read takes the rest of it
            }
            at += text.length;
            line++;
            mark(line, at);
        }
        lastLine = line;
        lastOffset = at;
        return copied;
    }

    private void mark(int line, long offset) {
        if (line % MARK_EVERY == 0 && line / MARK_EVERY == marked) {
            if (marked == marks.length) {
                marks = Arrays.copyOf(marks, marked * 2);
            }
            marks[marked++] = offset;
        }
    }

    @Override
    public long heldBytes() {
        return heldElsewhere + 2L * Long.BYTES * (count / MARK_EVERY + 1);
    }
}
