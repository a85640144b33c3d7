package io.clairfs.fs.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.status.ErrorLog;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class ConsumptionWatcherTest {
    private static final long GENEROUS_S = ChangedQueue.GENEROUS_S;

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

    /** Tells {@link #reader} of reads, and knows when reports were lost. */
    private final class Losing implements ConsumptionWatcher.Reader {
        final Semaphore lost = new Semaphore(0);

        /** Whether it fails at the next close, and whether at the next read that it is told of. */
        private boolean failsAtClose;

        private boolean failsAtRead;

        Losing(boolean failsAtClose, boolean failsAtRead) {
            this.failsAtClose = failsAtClose;
            this.failsAtRead = failsAtRead;
        }

        void awaitLoss() throws InterruptedException {
            assertThat(lost.tryAcquire(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
        }

        @Override
        public boolean isAsked(int file) {
            if (failsAtClose) {
                failsAtClose = false;
                throw new IllegalStateException("broken");
            }
            return false;
        }

        @Override
        public void read(int[] files, int count) {
            if (failsAtRead) {
                failsAtRead = false;
                throw new IllegalStateException("broken");
            }
            reader.read(files, count);
        }

        @Override
        public void reportsLost() {
            lost.release();
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

    private static ConsumptionWatcher.QueueMaker scripted(Semaphore looks, ChangedQueue.Look... first) {
        return () -> new ChangedQueue.Scripted(
                new ChangedQueue.Held(WatchQueue.open(), looks), List.of(first).iterator());
    }

    private static int open(Path file) throws PosixException {
        return Posix.openAt(Posix.AT_FDCWD, file.toString().getBytes(UTF_8), Posix.O_RDONLY);
    }

    private static void readAll(Path file) {
        try {
            Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private @Nullable Integer next() throws InterruptedException {
        return read.poll(GENEROUS_S, TimeUnit.SECONDS);
    }

    @Test
    void readsThatComeBeforeTheWatchIsKnownByItsNumber_areNotLost() throws Exception {
        ConsumptionWatcher.QueueMaker maker =
                () -> new ChangedQueue.Hasty(WatchQueue.open(), first, new CountDownLatch(1), new Semaphore(0));
        try (ConsumptionWatcher _ = watch(reader, maker)) {
            Files.readAllBytes(second);
            assertThat(next()).isZero();
            assertThat(next()).isEqualTo(1);
        }
    }

    @Test
    void watcherThatNobodyGaveWorkForAWhile_sleeps_andIsWokenByTheNextRead_andByTheEnd() throws Exception {
        Semaphore waits = new Semaphore(0);
        ConsumptionWatcher.QueueMaker maker =
                () -> new ChangedQueue.Hasty(WatchQueue.open(), first, new CountDownLatch(1), waits);
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
        try (ConsumptionWatcher _ = watch(reader, () -> new ChangedQueue.Held(WatchQueue.open(), looks))) {
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
        ChangedQueue.Restless queue = new ChangedQueue.Restless(WatchQueue.open(), new Semaphore(0));
        try (ConsumptionWatcher _ = watch(reader, () -> queue)) {
            Files.readAllBytes(second);
            assertThat(next()).isEqualTo(1);
            for (int i = 0; i < 20; i++) {
                int own = open(first);
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
        Losing failing = new Losing(false, true);
        try (ConsumptionWatcher _ = watch(failing, WatchQueue::open)) {
            Files.readAllBytes(first);
            failing.awaitLoss();
            Files.readAllBytes(second);
            assertThat(next()).isEqualTo(1);
        }
        assertThat(errors.lines()).hasSize(1);
    }

    @Test
    void closeThatWaitsWhenTheQueueOverflows_isNotReported_andAReadOfAFileWhoseReportWasLostIs() throws Exception {
        int own = open(first);
        ChangedQueue.Look closes = (queue, into) -> {
            long n = queue.read(into);
            ownCloses.close(0, own); // at the end of the next look
            ownCloses.closing(1);
            ownCloses.closed(1); // its report is lost
            return n;
        };
        ChangedQueue.Look overflows = (_, into) -> {
            into.asSlice(0, ConsumptionWatcher.EVENT_BYTES).fill((byte) 0);
            into.set(JAVA_INT, 4, KernelCalls.IN_Q_OVERFLOW);
            return ConsumptionWatcher.EVENT_BYTES;
        };
        Semaphore looks = new Semaphore(0);
        Losing losing = new Losing(false, false);
        try (ConsumptionWatcher _ = watch(losing, scripted(looks, closes, overflows))) {
            looks.release(1_000_000);
            losing.awaitLoss();
            Files.readAllBytes(second);
            assertThat(next()).as("after no report of the first").isEqualTo(1);
        }
    }

    @ParameterizedTest(name = "before all reports were looked at: {0}")
    @ValueSource(booleans = {false, true})
    void closeThatWaitsWhenAReaderFails_isNotReported_andAReadOfAFileWhoseReportWasLostIs(boolean early)
            throws Exception {
        int own = open(first);
        ChangedQueue.Look closes = (queue, into) -> {
            long n = queue.read(into);
            ownCloses.close(0, own); // at the end of the next look
            if (early) {
                ownCloses.closing(1);
                ownCloses.closed(1); // its report is not looked at
            }
            return n;
        };
        ChangedQueue.Look fails = (queue, into) -> {
            readAll(second);
            return queue.read(into);
        };
        Semaphore looks = new Semaphore(0);
        Losing failing = new Losing(early, !early);
        try (ConsumptionWatcher _ = watch(failing, scripted(looks, closes, fails))) {
            looks.release(1_000_000);
            failing.awaitLoss();
            Files.readAllBytes(second);
            assertThat(next()).as("after no report of the first").isEqualTo(1);
        }
    }

    @ParameterizedTest(name = "reported as one: {0}")
    @ValueSource(booleans = {false, true})
    void closeOfAReaderWhoHadToAsk_isReportedOnce_thoughThisProcessHadClosedTheFile_andMoreWaitsThanOneLookTakes(
            boolean asOne) throws Exception {
        ChangedQueue.Look full = (queue, into) -> {
            into.asSlice(queue.read(into)).fill((byte) 0); // events that concern no file
            return into.byteSize();
        };
        Semaphore looks = new Semaphore(0);
        try (ConsumptionWatcher _ = watch(reader, scripted(looks, full))) {
            ownCloses.closing(0);
            Files.readAllBytes(first);
            Files.readAllBytes(second);
            asked.add(0);
            looks.release();
            assertThat(next()).isEqualTo(1);
            if (!asOne) {
                Files.readAllBytes(first);
            }
            looks.release(1_000_000);
            assertThat(next()).isZero();
            assertThat(asked).isEmpty();
            Files.readAllBytes(second);
            assertThat(next()).as("after one report of the first").isEqualTo(1);
        }
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
