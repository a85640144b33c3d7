package io.clairfs.fs.read;

import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.fs.kernel.ConsumptionWatcher;
import io.clairfs.fs.protocol.ReadReply;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Answers the kernel's read requests and counts them.
 *
 * <p>Life cycle: the daemon makes it before the mount, and connects it when the watcher and the prefetcher exist; reads are answered before that
 * too. It has no thread, no lock, and nothing to close. {@link #read} runs on the session's request threads, many at once, and may fetch the
 * sample there; another thread that has the bytes may answer later.
 */
public final class ReadRequests implements DatasetMount.ReadRequests {
    private final SampleReader reader;
    private final ReadAccounting accounting;
    private final RepeatedReads repeated = new RepeatedReads(System::nanoTime);
    private volatile @Nullable ConsumptionWatcher watcher;
    private volatile @Nullable Prefetcher prefetcher;
    private volatile FirstRequests firstRequests = FirstRequests.IGNORED;

    public ReadRequests(SampleReader reader, ReadAccounting accounting) {
        this.reader = reader;
        this.accounting = accounting;
    }

    /** Sets the watcher, which knows where closes are reported, and the prefetcher, which is told of requests. They are made after the mount. */
    public void connect(ConsumptionWatcher theWatcher, Prefetcher thePrefetcher) {
        prefetcher = thePrefetcher;
        watcher = theWatcher;
    }

    /** Sets who hears of the requests for the beginning of a file, and of closes. */
    public void tell(FirstRequests listener) {
        firstRequests = listener;
    }

    /** Passes on which files readers have closed. */
    void closed(int[] files, int count) {
        firstRequests.closed(files, count);
    }

    @Override
    public void read(Entry file, long offset, int length, int thread, ReadReply reply) throws SourceException {
        int number = file.number();
        if (offset == 0) {
            firstRequests.asked(thread, number);
        }
        ConsumptionWatcher reports = watcher;
        Prefetcher followers = prefetcher;
        boolean reported = reports != null && reports.isWatched(file.listing().directory());
        boolean first = accounting.request(number, offset, reported);
        if (first && followers != null) {
            if (!reported) {
                followers.reached(number);
            } else if (offset == 0 && length >= file.size()) {
                followers.asked(number);
            }
        }
        long timeoutMs = reader.timeoutMs();
        long patienceMs = repeated.patienceMs(number, thread, timeoutMs);
        if (patienceMs == 0) {
            throw new SourceTimeoutException(PythonText.show(file.path()) + ", asked for again", timeoutMs);
        }
        reader.read(number, offset, length, patienceMs, new ReadAnswer(number, thread, patienceMs < timeoutMs, reply));
    }

    /** Answers one request. */
    private final class ReadAnswer implements SampleReader.Asker {
        private final int file;
        private final int thread;
        private final boolean shared;
        private final ReadReply reply;
        private final long startNs = System.nanoTime();

        ReadAnswer(int file, int thread, boolean shared, ReadReply reply) {
            this.file = file;
            this.thread = thread;
            this.shared = shared;
            this.reply = reply;
        }

        @Override
        public void bytes(MemorySegment bytes) {
            try {
                accounting.answered(bytes.byteSize());
                waited();
            } finally { // whoever keeps the books, the reader waits
                reply.bytes(bytes);
            }
        }

        /** The kernel repeats the request at once, so a timeout is noted before the reply. */
        @Override
        public void failed(Throwable reason) {
            try {
                waited();
                if (reason instanceof SourceTimeoutException) {
                    repeated.timedOut(file, thread, shared);
                }
            } finally {
                reply.failed(reason);
            }
        }

        /** Told before the reply, so before the close that follows it. */
        private void waited() {
            Prefetcher followers = prefetcher;
            if (followers != null) {
                followers.waited(file, startNs, System.nanoTime());
            }
        }
    }
}
