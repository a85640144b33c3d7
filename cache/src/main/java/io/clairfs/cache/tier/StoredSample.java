package io.clairfs.cache.tier;

import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A sample in a file of this node, to be sent from there. The file stays open and the bytes stay in place until it is
 * {@link #release released}. The bytes have not been verified.
 */
public final class StoredSample {
    private final FileChannel file;
    private final long offset;
    private final long size;
    private final int crc32c;
    private final Runnable done;
    private final AtomicBoolean released = new AtomicBoolean();

    public StoredSample(FileChannel file, long offset, long size, int crc32c, Runnable done) {
        this.file = file;
        this.offset = offset;
        this.size = size;
        this.crc32c = crc32c;
        this.done = done;
    }

    public FileChannel file() {
        return file;
    }

    /** The offset of its first byte in the file, bytes. */
    public long offset() {
        return offset;
    }

    /** The size of the sample, bytes. */
    public long size() {
        return size;
    }

    /** CRC32C of the bytes as they were stored. */
    public int crc32c() {
        return crc32c;
    }

    /** Ends the use, after the sample was sent or when it will not be. */
    public void release() {
        if (released.compareAndSet(false, true)) {
            done.run();
        }
    }
}
