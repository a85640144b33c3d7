package io.clairfs.cache.placement;

import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Samples on their way to a tier that is slow to write, bounded in bytes; each can be read until it has arrived. */
final class WriteBackQueue {
    /** No sample waits. */
    static final int NONE = -1;

    private final long capacityBytes;
    private final Map<Integer, SampleBuffer> samples = new HashMap<>();
    private final ArrayDeque<Integer> waiting = new ArrayDeque<>();
    private final Map<Integer, Long> reserved = new HashMap<>();
    private long bytes;
    private long reservedBytes;
    private boolean closed;

    WriteBackQueue(long capacityBytes) {
        this.capacityBytes = capacityBytes;
    }

    /**
     * Reserves room for a file to fetch, which {@link #offer} then takes. Waits for {@code waitNs} at most; an empty queue has room for any
     * size. {@link #giveBack} ends it.
     */
    synchronized boolean reserve(int file, long size, long waitNs) throws InterruptedException {
        long deadline = System.nanoTime() + waitNs;
        while (!closed && !samples.containsKey(file) && !reserved.containsKey(file)) {
            if (hasRoom(size)) {
                reserved.put(file, size);
                reservedBytes += size;
                return true;
            }
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return false;
    }

    /** Waits until there is room for so many bytes, for {@code waitNs} at most. */
    synchronized void awaitRoom(long size, long waitNs) throws InterruptedException {
        long deadline = System.nanoTime() + waitNs;
        for (long left = waitNs; !closed && !hasRoom(size) && left > 0; left = deadline - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** Gives back the room reserved for a file, unless the file has used it. */
    synchronized void giveBack(int file) {
        Long size = reserved.remove(file);
        if (size != null) {
            reservedBytes -= size;
            notifyAll();
        }
    }

    private boolean hasRoom(long size) {
        long taken = bytes + reservedBytes;
        return taken == 0 || taken + size <= capacityBytes;
    }

    /** Takes a sample, with a reference of its own. Returns whether it is queued now; an empty queue takes any size. */
    synchronized boolean offer(int file, SampleBuffer sample) {
        if (samples.containsKey(file)) {
            return true;
        }
        if (closed || !(reserved.containsKey(file) || hasRoom(sample.size()))) {
            return false;
        }
        giveBack(file);
        if (!sample.tryRetain()) {
            throw new AssertionError("the caller holds no reference");
        }
        samples.put(file, sample);
        waiting.add(file);
        bytes += sample.size();
        return true;
    }

    /** A queued sample, with a reference for the caller, or null. */
    synchronized @Nullable SampleBuffer get(int file) {
        SampleBuffer sample = samples.get(file);
        return sample != null && sample.tryRetain() ? sample : null;
    }

    synchronized boolean contains(int file) {
        return samples.containsKey(file);
    }

    /** The file that has waited longest, now the caller's to write, or {@link #NONE}. */
    synchronized int next() {
        Integer file = waiting.poll();
        return file == null ? NONE : file;
    }

    /** A file that {@link #next} gave was written, or never will be. */
    synchronized void done(int file) {
        SampleBuffer sample = samples.remove(file);
        if (sample != null) {
            bytes -= sample.size();
            sample.release();
            notifyAll();
        }
    }

    /** Whether at most half of its room is taken. */
    synchronized boolean takesMore() {
        return !closed && bytes + reservedBytes <= capacityBytes / 2;
    }

    /** Bytes that wait or are being written. */
    synchronized long bytes() {
        return bytes;
    }

    /** Drops the samples that no thread has taken yet, and takes no more. */
    synchronized void close() {
        closed = true;
        notifyAll();
        while (!waiting.isEmpty()) {
            done(waiting.poll());
        }
    }
}
