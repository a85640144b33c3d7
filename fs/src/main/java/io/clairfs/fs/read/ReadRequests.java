package io.clairfs.fs.read;

import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.fs.kernel.ConsumptionWatcher;
import io.clairfs.fs.mount.DatasetMount;
import io.clairfs.fs.mount.Requester;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Answers the kernel's read requests and keeps account of them. */
public final class ReadRequests implements DatasetMount.ReadRequests {
    private final SampleReader reader;
    private final ReadAccounting accounting;
    private final RepeatedReads repeated = new RepeatedReads(System::nanoTime);
    private volatile @Nullable ConsumptionWatcher watcher;
    private volatile @Nullable Prefetcher prefetcher;

    public ReadRequests(SampleReader reader, ReadAccounting accounting) {
        this.reader = reader;
        this.accounting = accounting;
    }

    /** Those that are to know of requests where closing is not reported; they need the mount, so they come after it. */
    public void connect(ConsumptionWatcher theWatcher, Prefetcher thePrefetcher) {
        prefetcher = thePrefetcher;
        watcher = theWatcher;
    }

    @Override
    public int read(Entry file, long offset, MemorySegment into) throws SourceException {
        int number = file.number();
        ConsumptionWatcher reports = watcher;
        Prefetcher followers = prefetcher;
        boolean reported = reports != null && reports.isWatched(file.listing().directory());
        boolean first = accounting.request(number, offset, reported);
        if (first && !reported && followers != null) {
            followers.reached(number);
        }
        int bytes = unlessRepeated(file, number, offset, into);
        accounting.answered(bytes);
        return bytes;
    }

    private int unlessRepeated(Entry file, int number, long offset, MemorySegment into) throws SourceException {
        long timeoutMs = reader.timeoutMs();
        long patienceMs = repeated.patienceMs(number, Requester.thread(), timeoutMs);
        if (patienceMs == 0) {
            throw new SourceTimeoutException(PythonText.show(file.path()) + ", asked for again", timeoutMs);
        }
        try {
            return reader.read(number, offset, into, patienceMs);
        } catch (SourceTimeoutException e) {
            repeated.timedOut(number, Requester.thread(), patienceMs < timeoutMs);
            throw e;
        }
    }
}
