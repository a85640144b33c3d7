package io.clairfs.cache.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToLongFunction;

/**
 * A dataset of files that are nowhere, and the source that gives them: it writes down every read, and fails or hangs when it is told
 * to. Sample {@code i} is the file of that name; {@link #file} says under which number the tree has it.
 */
public final class FakeDataset implements Source {
    /** What a sample's content repeats after. */
    private static final long PERIOD_BYTES = 256;

    /** As {@link Await} waits: a test may stand still while it keeps a gate closed. */
    private static final long WAIT_S = 120;

    private final int samples;
    private final IntToLongFunction sizes;
    private final List<Integer> reads = new ArrayList<>();
    private final Semaphore begun = new Semaphore(0);
    private volatile boolean failing;
    private volatile long hangFrom;
    private CountDownLatch gate = new CountDownLatch(0);

    public final DatasetTree tree;
    public final SampleIndex index;

    public FakeDataset(int samples, IntToLongFunction sizes) throws SourceException, DatasetException {
        this.samples = samples;
        this.sizes = sizes;
        tree = new DatasetTree(this, 1, warning -> {
            throw new AssertionError(warning);
        });
        tree.complete().join();
        tree.close();
        index = Objects.requireNonNull(IndexRule.BY_NAME.get("sorted")).index(tree, tree.root());
    }

    public int file(int sample) {
        return index.file(sample);
    }

    /** The samples that were read, in the order in which their reads began. */
    public List<Integer> reads() {
        synchronized (reads) {
            return List.copyOf(reads);
        }
    }

    public long readsOf(int sample) {
        return reads().stream().filter(each -> each == sample).count();
    }

    public void fail(boolean now) {
        failing = now;
    }

    /** Reads that begin from now on do not end before the latch is down; those that began before keep their own. */
    public CountDownLatch hang() {
        synchronized (reads) {
            begun.drainPermits();
            gate = new CountDownLatch(1);
            return gate;
        }
    }

    /** The same for what lies from this offset of its file on. */
    public CountDownLatch hangFrom(long offset) {
        synchronized (reads) {
            hangFrom = offset;
            return hang();
        }
    }

    /** Waits until so many reads have begun since {@link #hang}. */
    public void awaitReads(int count) throws InterruptedException {
        if (!begun.tryAcquire(count, WAIT_S, TimeUnit.SECONDS)) {
            throw new AssertionError("no " + count + " reads began");
        }
    }

    /** The sample as the source gives it, with the caller's reference. */
    public SampleBuffer sample(int sample) {
        SampleBuffer buffer = SampleBuffer.allocate(sizes.applyAsLong(sample));
        fill(sample, 0, buffer.bytes());
        return buffer;
    }

    public boolean isRight(int sample, SampleBuffer buffer) {
        SampleBuffer right = sample(sample);
        boolean same = right.bytes().mismatch(buffer.bytes()) == -1;
        right.release();
        return same;
    }

    private static void fill(int sample, long offset, MemorySegment into) {
        long filled = Math.min(into.byteSize(), PERIOD_BYTES);
        for (long i = 0; i < filled; i++) {
            into.set(ValueLayout.JAVA_BYTE, i, (byte) (sample * 31L + offset + i));
        }
        while (filled < into.byteSize()) {
            long more = Math.min(filled, into.byteSize() - filled);
            MemorySegment.copy(into, 0, into, filled, more);
            filled += more;
        }
    }

    @Override
    public List<byte[]> names(byte[] directory) {
        List<byte[]> names = new ArrayList<>();
        for (int i = 0; i < samples; i++) {
            names.add(String.format("%06d", i).getBytes(UTF_8));
        }
        return names;
    }

    @Override
    public FileStatus status(byte[] path) {
        if (path.length == 0) {
            return new FileStatus(FileStatus.DIRECTORY | 0755, 0, 0, 4096, 0, 1);
        }
        int i = number(path);
        return new FileStatus(FileStatus.REGULAR | 0644, 0, 0, sizes.applyAsLong(i), 1, i + 2L);
    }

    private static int number(byte[] path) {
        return Integer.parseInt(new String(path, UTF_8));
    }

    @Override
    public byte[] linkTarget(byte[] path) {
        throw new AssertionError("there are no links");
    }

    @Override
    public void read(SourceFile file, long offset, MemorySegment into) throws SourceException {
        int sample = number(file.path());
        CountDownLatch mine;
        long from;
        synchronized (reads) {
            reads.add(sample);
            mine = gate; // taken before the read is counted: who counts it may put another in its place
            from = hangFrom;
            begun.release();
        }
        try {
            if (offset >= from && !mine.await(WAIT_S, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody opened the gate");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (failing) {
            throw new SourceFailedException("injected", 5);
        }
        fill(sample, offset, into);
    }

    @Override
    public void close() {}
}
