package io.clairfs.cache.tier;

import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A sample as it lies in a file of this node, to be sent from there. The file stays open, and the bytes stay where they are,
 * until it is {@link #release released}; they have not been verified.
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

    /** Of its first byte in the file. */
    public long offset() {
        return offset;
    }

    /** Its bytes. */
    public long size() {
        return size;
    }

    /** CRC32C of the bytes as they were when they were kept. */
    public int crc32c() {
        return crc32c;
    }

    /** Says that it was sent, or will not be. */
    public void release() {
        if (released.compareAndSet(false, true)) {
            done.run();
        }
    }
}
