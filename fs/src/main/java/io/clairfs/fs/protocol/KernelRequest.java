package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** One request in the memory of the thread that took it: {@code struct fuse_in_header} and what follows. Valid until that thread takes the next. */
final class KernelRequest {
    /** Bytes of the header. */
    static final int HEADER_BYTES = 40;

    private final MemorySegment bytes;

    /** A view of the request that is read into {@code bytes}. */
    KernelRequest(MemorySegment bytes) {
        this.bytes = bytes;
    }

    /** Bytes of the whole request, from its header. */
    int length() {
        return bytes.get(JAVA_INT, 0);
    }

    int opcodeNumber() {
        return bytes.get(JAVA_INT, 4);
    }

    /** The operation; null if {@link Opcode} does not know it. */
    @Nullable
    Opcode opcode() {
        return Opcode.of(opcodeNumber());
    }

    /** The number that the reply must carry. */
    long unique() {
        return bytes.get(JAVA_LONG, 8);
    }

    /** Whether another process took it before, and died: see {@link UnansweredRequests}. */
    boolean isRepeated() {
        return unique() < 0; // FUSE_UNIQUE_RESEND
    }

    long node() {
        return bytes.get(JAVA_LONG, 16);
    }

    /** The number of the thread that waits; 0 for the kernel itself, or a thread that this process cannot see. */
    int thread() {
        return bytes.get(JAVA_INT, 32);
    }

    /** The integer at {@code offset} behind the header. */
    int integer(int offset) {
        return bytes.get(JAVA_INT, HEADER_BYTES + offset);
    }

    /** The long integer at {@code offset} behind the header. */
    long longInteger(int offset) {
        return bytes.get(JAVA_LONG, HEADER_BYTES + offset);
    }

    /** The name that follows the header, without its terminating zero. */
    byte[] name() {
        int end = HEADER_BYTES;
        while (end < length() && bytes.get(JAVA_BYTE, end) != 0) {
            end++;
        }
        return bytes.asSlice(HEADER_BYTES, end - HEADER_BYTES).toArray(JAVA_BYTE);
    }
}
