package io.clairfs.cache.testing;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.source.ForwardingSource;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Counts what is read from another source, and can be told to fail, or to answer no read before a gate is open. */
public final class CountingSource extends ForwardingSource {
    private static final long LONGEST_S = 120;

    public final AtomicLong reads = new AtomicLong();
    public final AtomicLong bytes = new AtomicLong();
    public volatile boolean failing;
    public volatile CountDownLatch gate;

    public CountingSource(Source inner, CountDownLatch gate) {
        super(inner);
        this.gate = gate;
    }

    @Override
    public void read(SourceFile file, long offset, MemorySegment into) throws SourceException {
        try {
            if (!gate.await(LONGEST_S, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody opened the gate");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (failing) {
            throw new SourceFailedException("injected", Errno.EIO);
        }
        reads.incrementAndGet();
        super.read(file, offset, into);
        bytes.addAndGet(into.byteSize());
    }
}
