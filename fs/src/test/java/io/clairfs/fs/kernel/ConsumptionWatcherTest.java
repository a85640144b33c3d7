package io.clairfs.fs.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.status.ErrorLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class ConsumptionWatcherTest {
    private static final long GENEROUS_S = 60;

    @TempDir
    Path directory;

    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private final Set<Integer> asked = ConcurrentHashMap.newKeySet();

    /** No time passes for it, so it forgets nothing that was not reported. */
    private final OwnCloses ownCloses = new OwnCloses(() -> 0);

    private final BlockingQueue<Integer> read = new LinkedBlockingQueue<>();

    /** The thread that has told the reader last. */
    private volatile @Nullable Thread telling;

    private final ConsumptionWatcher.Reader reader = new ConsumptionWatcher.Reader() {
        @Override
        public void read(int[] files, int count) {
            telling = Thread.currentThread();
            for (int i = 0; i < count; i++) {
                read.add(files[i]);
            }
        }

        @Override
        public boolean isAsked(int file) {
            return asked.contains(file);
        }

        @Override
        public boolean takeAsked(int file) {
            return asked.remove(file);
        }

        @Override
        public void reportsLost() {
            throw new AssertionError("the queue is long enough");
        }
    };

    /** A queue whose watch is in use, and reported, before whoever made it knows its number. */
    private record Hasty(WatchQueue queue, Path file, CountDownLatch reported, Semaphore waits) implements WatchQueue {
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

        @Override
        public void wake() throws PosixException {
            queue.wake();
        }

        @Override
        public void close() {
            queue.close();
        }
    }

    /**
     * A queue in which there is always something, so that the watcher never rests: an event that concerns no file.
     *
     * @param looks counts the looks at it that have begun
     */
    private record Restless(WatchQueue queue, Semaphore looks) implements WatchQueue {
        private static final int EVENT_BYTES = 16;

        /** Waits until what is to be closed at the end of the next look is closed, and its report is in the queue. */
        void awaitCloses() throws InterruptedException {
            looks.drainPermits();
            // The first may be one that had begun before; the second ends with the closes, and then the third begins.
            assertThat(looks.tryAcquire(3, GENEROUS_S, TimeUnit.SECONDS)).isTrue();
        }

        @Override
        public int watch(byte[] path, int events) throws PosixException {
            return queue.watch(path, events);
        }

        @Override
        public long read(MemorySegment into) throws PosixException {
            looks.release();
            long n = queue.read(into);
            if (n == 0) {
                into.asSlice(0, EVENT_BYTES).fill((byte) 0);
            }
            return n == 0 ? EVENT_BYTES : n;
        }

        @Override
        public void await() {
            throw new AssertionError("it has nothing to wait for");
        }

        @Override
        public void wake() throws PosixException {
            queue.wake();
        }

        @Override
        public void close() {
            queue.close();
        }
    }

    /** A queue that is looked at only when the test lets it. */
    private record Held(WatchQueue queue, Semaphore looks) implements WatchQueue {
        @Override
        public int watch(byte[] path, int events) throws PosixException {
            return queue.watch(path, events);
        }

        @Override
        public long read(MemorySegment into) throws PosixException {
            looks.acquireUninterruptibly();
            return queue.read(into);
        }

        @Override
        public void await() throws PosixException {
            queue.await();
        }

        @Override
        public void wake() throws PosixException {
            queue.wake();
        }

        @Override
        public void close() {
            queue.close();
        }
    }

    private Path first;
    private Path second;
    private DatasetTree tree;

    @BeforeEach
    void makeDataset() throws Exception {
        first = Files.writeString(directory.resolve("0"), "first");
        second = Files.writeString(directory.resolve("1"), "second");
        tree = new DatasetTree(new DirectorySource(directory), 2, warning -> {});
        tree.complete().get();
    }

    @AfterEach
    void closeTree() {
        tree.close();
    }

    private ConsumptionWatcher watch(ConsumptionWatcher.Reader told, ConsumptionWatcher.QueueMaker maker) {
        ConsumptionWatcher watcher = new ConsumptionWatcher(tree, directory, told, errors, ownCloses, maker);
        assertThat(watcher.watch(List.of(tree.root()), line -> {})).isZero();
        return watcher;
    }

    private @Nullable Integer next() throws InterruptedException {
        return read.poll(GENEROUS_S, TimeUnit.SECONDS);
    }

    @Test
    void readsThatComeBeforeTheWatchIsKnownByItsNumber_areNotLost() throws Exception {
        ConsumptionWatcher.QueueMaker maker =
                () -> new Hasty(WatchQueue.open(), first, new CountDownLatch(1), new Semaphore(0));
        try (ConsumptionWatcher _ = watch(reader, maker)) {
            Files.readAllBytes(second);
            assertThat(next()).isZero();
            assertThat(next()).isEqualTo(1);
        }
    }

    @Test
    void watcherThatNobodyGaveWorkForAWhile_sleeps_andIsWokenByTheNextRead_andByTheEnd() throws Exception {
        Semaphore waits = new Semaphore(0);
        ConsumptionWatcher.QueueMaker maker = () -> new Hasty(WatchQueue.open(), first, new CountDownLatch(1), waits);
        try (ConsumptionWatcher _ = watch(reader, maker)) {
            assertThat(next()).isZero();
            waits.acquire();
            Files.readAllBytes(second);
            assertThat(next()).isEqualTo(1);
            waits.acquire();
        }
        Thread watching = telling;
        assertThat(watching).isNotNull();
        watching.join();
    }

    // The kernel makes one report of two closes of a file in a row.
    @Test
    void closeOfAReaderWhoHadToAsk_isReported_thoughThisProcessClosesTheFileRightBehind() throws Exception {
        try (ConsumptionWatcher _ = watch(reader, WatchQueue::open)) {
            asked.add(0);
            ownCloses.closing(0);
            Files.readAllBytes(first);
            Files.readAllBytes(first);
            Files.readAllBytes(second);
            assertThat(next()).isZero();
            assertThat(next()).isEqualTo(1);
        }
    }

    @Test
    void closeOfAReaderWhoHadToAsk_isReportedInItsTurn_thoughThisProcessHadClosedTheFileBefore() throws Exception {
        Semaphore looks = new Semaphore(0);
        try (ConsumptionWatcher _ = watch(reader, () -> new Held(WatchQueue.open(), looks))) {
            ownCloses.closing(0);
            Files.readAllBytes(first);
            Files.readAllBytes(second);
            asked.add(0);
            Files.readAllBytes(first);
            looks.release(1_000_000);
            assertThat(next()).isEqualTo(1);
            assertThat(next()).isZero();
            assertThat(asked).isEmpty();
            Files.readAllBytes(second);
            assertThat(next()).as("after one report of the first").isEqualTo(1);
        }
    }

    @Test
    void closeOfAReaderWhoReadFromThePageCache_isReported_thoughThisProcessClosesTheFileRightBehind() throws Exception {
        Restless queue = new Restless(WatchQueue.open(), new Semaphore(0));
        try (ConsumptionWatcher _ = watch(reader, () -> queue)) {
            Files.readAllBytes(second);
            assertThat(next()).isEqualTo(1);
            for (int i = 0; i < 20; i++) {
                int own = Posix.openAt(Posix.AT_FDCWD, first.toString().getBytes(UTF_8), Posix.O_RDONLY);
                Files.readAllBytes(first);
                ownCloses.close(0, own);
                assertThat(next()).isZero();
                queue.awaitCloses(); // else the next reader's close might come right behind it, and be reported with
                // it as one
                Files.readAllBytes(second);
                assertThat(next()).as("after one report of the first").isEqualTo(1);
            }
        }
    }

    @Test
    void readersWhoAreToldApart_areReportedEach_thoughTheyReadTheFileInARow() throws Exception {
        try (ConsumptionWatcher watcher = watch(reader, WatchQueue::open)) {
            watcher.tellReadersApart(true);
            for (int i = 0; i < 10; i++) {
                Files.readAllBytes(first);
            }
            for (int i = 0; i < 10; i++) {
                assertThat(next()).isZero();
            }
            watcher.tellReadersApart(false);
            Files.readAllBytes(second);
            assertThat(next()).isEqualTo(1);
        }
    }

    @Test
    void readerThatFailsOnce_hasLostReports_andIsToldOfTheNextRead() throws Exception {
        Semaphore lost = new Semaphore(0);
        ConsumptionWatcher.Reader failing = new ConsumptionWatcher.Reader() {
            @Override
            public void read(int[] files, int count) {
                if (files[0] == 0) {
                    throw new IllegalStateException("broken");
                }
                reader.read(files, count);
            }

            @Override
            public void reportsLost() {
                lost.release();
            }
        };
        try (ConsumptionWatcher _ = watch(failing, WatchQueue::open)) {
            Files.readAllBytes(first);
            assertThat(lost.tryAcquire(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
            Files.readAllBytes(second);
            assertThat(next()).isEqualTo(1);
        }
        assertThat(errors.lines()).hasSize(1);
    }

    @Test
    void fileThatThisProcessCloses_isNotReported() throws Exception {
        try (ConsumptionWatcher _ = watch(reader, WatchQueue::open)) {
            ownCloses.closing(0);
            Files.readAllBytes(first);
            Files.readAllBytes(second);
            assertThat(next()).isEqualTo(1);
            Files.readAllBytes(first);
            assertThat(next()).isZero();
        }
    }
}
