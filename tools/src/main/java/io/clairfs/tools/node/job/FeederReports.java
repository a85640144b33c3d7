package io.clairfs.tools.node.job;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.tools.node.status.Status;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The last reports of the feeders of this node. One that has not reported for some seconds has ended. Thread-safe. */
public final class FeederReports {
    /** Feeders report every second. */
    private static final long KEPT_NS = TimeUnit.SECONDS.toNanos(5);

    private final LongSupplier clockNs;
    /** By the job's name. */
    private final Map<String, Map<Key, Timed>> jobs = new HashMap<>();

    /** A feeder. The number of its process alone is not enough: in containers all may have the same. */
    private record Key(int rank, long pid) {
        private static final Comparator<Key> ORDER =
                Comparator.comparingInt(Key::rank).thenComparingLong(Key::pid);
    }

    private record Timed(Status.Feeder report, long atNs) {}

    /** None so far. {@code clockNs} only runs forward, nanoseconds. */
    public FeederReports(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** Takes the report of a feeder of one of the job's ranks here. */
    public synchronized void add(JobSpec spec, Status.Feeder report) {
        removeOld();
        jobs.computeIfAbsent(spec.name(), _ -> new TreeMap<>(Key.ORDER))
                .put(new Key(report.rank(), report.pid()), new Timed(report, clockNs.getAsLong()));
    }

    /** Of the feeders of a job, by rank. */
    public synchronized List<Status.Feeder> of(JobSpec spec) {
        removeOld();
        return jobs.getOrDefault(spec.name(), Map.of()).values().stream()
                .map(Timed::report)
                .toList();
    }

    private void removeOld() {
        long now = clockNs.getAsLong();
        jobs.values().forEach(ofJob -> ofJob.values().removeIf(each -> now - each.atNs > KEPT_NS));
        jobs.values().removeIf(Map::isEmpty);
    }
}
