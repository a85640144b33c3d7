package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;

/**
 * The kernel's first request, INIT, and what is agreed upon: {@code struct fuse_init_in} and {@code struct fuse_init_out}.
 *
 * <p>{@code open}, {@code opendir} and {@code flush} are answered with ENOSYS, once each: the kernel then opens and closes without asking, keeps
 * pages, and keeps the names of directories. Reads of up to a MiB come in one request.
 *
 * @param major the version of the protocol that the kernel speaks
 * @param maxReadAhead bytes
 * @param flags what the kernel offers
 * @param moreFlags the flags from bit 32 on
 */
record Negotiation(int major, int minor, int maxReadAhead, int flags, int moreFlags) {
    /** The version in whose layouts is spoken here; Linux 5.4. */
    static final int MAJOR = 7;

    static final int MINOR = 31;

    /** Bytes of the answer. */
    static final int REPLY_BYTES = 64;

    static final int ASYNC_READ = 1;
    static final int DO_READDIRPLUS = 1 << 13;
    static final int PARALLEL_DIROPS = 1 << 18;
    static final int MAX_PAGES = 1 << 22;
    static final int CACHE_SYMLINKS = 1 << 23;

    /** There are flags from bit 32 on; Linux 5.17. */
    static final int MORE_FLAGS = 1 << 30;

    /** Of the flags from bit 32 on: requests that were taken and not answered can be had once more; Linux 6.9. */
    static final int RESEND = 1 << 7;

    /**
     * What is asked for where the kernel offers it. The kernel always takes attributes with names; {@link AttributesAdvice} decides when it gets them.
     * Not asked for: that reads past the page cache be asynchronous, for then they would wait behind those that read ahead.
     */
    static final int WANTED = ASYNC_READ | DO_READDIRPLUS | PARALLEL_DIROPS | MAX_PAGES | CACHE_SYMLINKS | MORE_FLAGS;

    private static final int MORE_FLAGS_AT = 16;

    /** Pages of the largest request: a MiB. */
    static final int LARGEST_REQUEST_PAGES = 256;

    /** Requests that nobody waits for, such as read-ahead, that the kernel has under way at once. */
    static final int MAX_BACKGROUND = 128;

    /** From how many of these on the kernel puts off reading ahead. */
    private static final int CONGESTION_THRESHOLD = 96;

    private static final int LARGEST_READ_AHEAD = 1 << 20;

    /** The smallest that the kernel allows: nothing is ever written. */
    private static final int LARGEST_WRITE = 4096;

    static Negotiation of(KernelRequest request) {
        int flags = request.integer(12);
        boolean more = (flags & MORE_FLAGS) != 0
                && request.length() >= KernelRequest.HEADER_BYTES + MORE_FLAGS_AT + Integer.BYTES;
        return new Negotiation(
                request.integer(0),
                request.integer(4),
                request.integer(8),
                flags,
                more ? request.integer(MORE_FLAGS_AT) : 0);
    }

    /** Whether another process can go on with the session: the kernel repeats the requests that this one leaves unanswered. */
    boolean canBeTakenOver() {
        return (moreFlags & RESEND) != 0;
    }

    /** Whether the kernel has all that is needed. */
    boolean isNewEnough() {
        return major > MAJOR || (major == MAJOR && minor >= MINOR);
    }

    /** Whether the kernel speaks a later dialect altogether: it is told ours, and begins anew. */
    boolean isToBeRepeated() {
        return major > MAJOR;
    }

    /** Writes the answer, {@link #REPLY_BYTES} of zeros before. */
    void write(MemorySegment reply) {
        reply.set(JAVA_INT, 0, MAJOR);
        reply.set(JAVA_INT, 4, MINOR);
        reply.set(JAVA_INT, 8, Math.min(maxReadAhead, LARGEST_READ_AHEAD));
        reply.set(JAVA_INT, 12, flags & WANTED);
        reply.set(JAVA_SHORT, 16, (short) MAX_BACKGROUND);
        reply.set(JAVA_SHORT, 18, (short) CONGESTION_THRESHOLD);
        reply.set(JAVA_INT, 20, LARGEST_WRITE);
        reply.set(JAVA_INT, 24, 1); // nanoseconds are what times are told in
        reply.set(JAVA_SHORT, 28, (short) LARGEST_REQUEST_PAGES);
        reply.set(JAVA_INT, 32, moreFlags & RESEND);
    }
}
