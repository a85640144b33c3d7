package io.clairfs.fs.control;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/** The content of an open control file: of one moment, read in pieces. Thread-safe. */
public interface ControlContent {
    /** Copies the content from {@code offset} on, as much as {@code into} takes. Returns the bytes copied; 0 past the end. */
    int read(long offset, MemorySegment into);

    /** Heap that it holds while it is open, bytes. */
    long heldBytes();

    /** A content of these bytes, which must not change afterwards. */
    static ControlContent of(byte[] bytes) {
        return new ControlContent() {
            @Override
            public int read(long offset, MemorySegment into) {
                int length = (int) Math.clamp(bytes.length - offset, 0, into.byteSize());
                MemorySegment.copy(bytes, (int) Math.min(offset, bytes.length), into, JAVA_BYTE, 0, length);
                return length;
            }

            @Override
            public long heldBytes() {
                return bytes.length;
            }
        };
    }
}
