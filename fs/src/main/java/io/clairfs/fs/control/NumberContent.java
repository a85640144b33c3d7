package io.clairfs.fs.control;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** A content of little-endian signed 64-bit numbers, of which each holds four bytes of heap. A read may begin and end within a number. */
public final class NumberContent implements ControlContent {
    private static final ValueLayout.OfLong LITTLE_ENDIAN = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final int[] numbers;

    /** A content of these numbers, which must not change afterwards. */
    public NumberContent(int[] numbers) {
        this.numbers = numbers;
    }

    @Override
    public int read(long offset, MemorySegment into) {
        long bytes = (long) numbers.length * Long.BYTES;
        int length = (int) Math.clamp(bytes - offset, 0, into.byteSize());
        int copied = 0;
        while (copied < length) {
            long at = offset + copied;
            long number = numbers[(int) (at / Long.BYTES)];
            int within = (int) (at % Long.BYTES);
            if (within == 0 && length - copied >= Long.BYTES) {
                into.set(LITTLE_ENDIAN, copied, number);
                copied += Long.BYTES;
            } else {
                into.set(ValueLayout.JAVA_BYTE, copied, (byte) (number >>> (within * Byte.SIZE)));
                copied++;
            }
        }
        return copied;
    }

    @Override
    public long heldBytes() {
        return (long) numbers.length * Integer.BYTES;
    }
}
