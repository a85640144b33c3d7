package io.clairfs.cache.tier;

import io.clairfs.cache.posix.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.zip.CRC32C;

/**
 * The bytes of one sample in native memory, shared by reference count.
 *
 * <p>A holder of a reference may read the bytes; the memory is freed with the last reference. A new buffer belongs to its maker, which
 * fills it before any other thread sees it.
 */
public final class SampleBuffer {
    private static final VarHandle REFERENCES;

    static {
        try {
            REFERENCES = MethodHandles.lookup().findVarHandle(SampleBuffer.class, "references", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final long UNKNOWN = -1;
    /** CRC32C takes buffers, which end at 2 GiB. */
    private static final long CRC_PIECE = 1L << 30;

    private final MemorySegment bytes;
    private volatile int references = 1;
    private volatile long crc32c = UNKNOWN;

    private SampleBuffer(MemorySegment bytes) {
        this.bytes = bytes;
    }

    /** A buffer of {@code size} bytes with undefined contents and one reference, the caller's. */
    public static SampleBuffer allocate(long size) {
        return new SampleBuffer(NativeMemory.allocate(size));
    }

    /** The bytes. The caller must hold a reference. */
    public MemorySegment bytes() {
        if (references <= 0) {
            throw new IllegalStateException("a sample is read after it was freed");
        }
        return bytes;
    }

    public long size() {
        return bytes.byteSize();
    }

    /** CRC32C of the bytes, which must be complete; computed at the first call. The caller must hold a reference. */
    public int crc32c() {
        long known = crc32c;
        if (known == UNKNOWN) {
            CRC32C sum = new CRC32C();
            for (long at = 0; at < size(); at += CRC_PIECE) {
                sum.update(bytes().asSlice(at, Math.min(CRC_PIECE, size() - at)).asByteBuffer());
            }
            known = sum.getValue();
            crc32c = known;
        }
        return (int) known;
    }

    /** Sets the CRC32C that the caller has computed already. */
    public void crc32cIs(int known) {
        crc32c = Integer.toUnsignedLong(known);
    }

    /** Takes a reference unless the memory is freed already. Returns whether it did. */
    public boolean tryRetain() {
        while (true) {
            int now = references;
            if (now <= 0) {
                return false;
            }
            if (REFERENCES.compareAndSet(this, now, now + 1)) {
                return true;
            }
        }
    }

    /**
     * Gives up one reference.
     *
     * @throws IllegalStateException when there was none: a reader may be using memory that is not this sample's any more, so this is
     *     checked without assertions too
     */
    public void release() {
        int before = (int) REFERENCES.getAndAdd(this, -1);
        if (before <= 0) {
            throw new IllegalStateException("a sample was released more often than it was taken");
        }
        if (before == 1) {
            NativeMemory.free(bytes);
        }
    }
}
