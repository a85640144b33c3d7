package io.clairfs.fs.read;

import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.fs.kernel.ConsumptionWatcher;

/** Passes on which files were read, as the kernel reports it. */
public record ReadReports(ReadAccounting accounting, SamplesInUse inUse, Prefetcher prefetcher, ReadRequests requests)
        implements ConsumptionWatcher.Reader {
    @Override
    public void read(int[] files, int count) {
        accounting.closed(files, count);
        inUse.closed(files, count);
        prefetcher.read(files, count);
        requests.closed(files, count);
    }

    @Override
    public boolean isAsked(int file) {
        return accounting.isAsked(file);
    }

    @Override
    public boolean takeAsked(int file) {
        return accounting.takeAsked(file);
    }

    @Override
    public void reportsLost() {
        accounting.reportsLost();
        prefetcher.reportsLost();
    }
}
