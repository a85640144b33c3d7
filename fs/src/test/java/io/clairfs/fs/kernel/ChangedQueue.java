package io.clairfs.fs.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A queue that is as another one but for what it overrides. */
interface ChangedQueue extends WatchQueue {
    long GENEROUS_S = 60;

    /** The other one. */
    WatchQueue queue();

    @Override
    default int watch(byte[] path, int events) throws PosixException {
        return queue().watch(path, events);
    }

    @Override
    default void await() throws PosixException {
        queue().await();
    }

    @Override
    default void wake() throws PosixException {
        queue().wake();
    }

    @Override
    default void close() {
        queue().close();
    }

    /** A queue whose watch is in use, and reported, before whoever made it knows its number. */
    record Hasty(WatchQueue queue, Path file, CountDownLatch reported, Semaphore waits) implements ChangedQueue {
        @Override
        public int watch(byte[] path, int events) throws PosixException {
            int number = queue.watch(path, events);
            try {
                Files.readAllBytes(file);
                assertThat(reported.await(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return number;
        }

        @Override
        public long read(MemorySegment into) throws PosixException {
            long n = queue.read(into);
            if (n > 0) {
                reported.countDown();
            }
            return n;
        }

        @Override
        public void await() throws PosixException {
            waits.release();
            queue.await();
        }
    }

    /**
     * A queue in which there is always something, so that the watcher never rests: an event that concerns no file.
     *
     * @param looks counts the looks at it that have begun
     */
    record Restless(WatchQueue queue, Semaphore looks) implements ChangedQueue {
        /** Waits until what is to be closed at the end of the next look is closed, and its report is in the queue. */
        void awaitCloses() throws InterruptedException {
            looks.drainPermits();
            // The first may be one that had begun before; the second ends with the closes, and then the third begins.
            assertThat(looks.tryAcquire(3, GENEROUS_S, TimeUnit.SECONDS)).isTrue();
        }

        @Override
        public long read(MemorySegment into) throws PosixException {
            looks.release();
            long n = queue.read(into);
            if (n == 0) {
                into.asSlice(0, ConsumptionWatcher.EVENT_BYTES).fill((byte) 0);
            }
            return n == 0 ? ConsumptionWatcher.EVENT_BYTES : n;
        }

        @Override
        public void await() {
            throw new AssertionError("it has nothing to wait for");
        }
    }

    /** A queue that is looked at only when the test lets it. */
    record Held(WatchQueue queue, Semaphore looks) implements ChangedQueue {
        @Override
        public long read(MemorySegment into) throws PosixException {
            looks.acquireUninterruptibly();
            return queue.read(into);
        }
    }

    /** What happens in one look, and what it finds. */
    @FunctionalInterface
    interface Look {
        long read(WatchQueue queue, MemorySegment into) throws PosixException;
    }

    /** A queue whose first looks are as the test says. */
    record Scripted(WatchQueue queue, Iterator<Look> first) implements ChangedQueue {
        @Override
        public long read(MemorySegment into) throws PosixException {
            return first.hasNext() ? first.next().read(queue, into) : queue.read(into);
        }
    }
}
