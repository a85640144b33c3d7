package io.clairfs.fs.control;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/** What an open control file says: of one moment, read in pieces. May be read by several threads. */
public interface ControlContent {
    /** Copies what there is from {@code offset} on, as much as {@code into} takes. Returns how many bytes; 0 behind the end. */
    int read(long offset, MemorySegment into);

    /** How much heap it holds for as long as it is open, bytes. */
    long heldBytes();

    /** These bytes, which must not change any more. */
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
