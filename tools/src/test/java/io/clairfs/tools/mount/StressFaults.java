package io.clairfs.tools.mount;

import io.clairfs.cache.posix.Errno;
import io.clairfs.fs.faulty.Fault;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.faulty.Request;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The periods of faults. They determine the errors with which a read may fail. */
final class StressFaults {
    /** How long the effects of a fault may last after it was lifted, in fetches that it struck and reads that joined them. */
    private static final long LINGER_NS = TimeUnit.SECONDS.toNanos(10);

    /** Longer than any read takes. */
    private static final long FORGOTTEN_NS = TimeUnit.MINUTES.toNanos(5);

    private static final long STILL = Long.MAX_VALUE;

    private final FaultyMount source;
    private final List<Period> periods = new ArrayList<>();
    private boolean listing;

    /** A period of a fault. Times are those of {@link System#nanoTime}. */
    static final class Period {
        private final String path;
        private final Set<Integer> errnos;
        private final long fromNs;
        private final boolean lifted;
        private long toNs = STILL;

        /** {@code lifted} says that the period ends when all faults are lifted. */
        Period(String path, Set<Integer> errnos, long fromNs, boolean lifted) {
            this.lifted = lifted;
            this.path = path;
            this.errnos = errnos;
            this.fromNs = fromNs;
        }

        boolean concerns(String file) {
            return path.isEmpty() || file.equals(path) || file.startsWith(path + "/");
        }

        boolean overlaps(long startNs, long endNs) {
            return fromNs - endNs <= 0 && (toNs == STILL || startNs - LINGER_NS - toNs <= 0);
        }
    }

    StressFaults(FaultyMount source) {
        this.source = source;
    }

    /** Injects a fault and records its period. */
    synchronized Fault inject(FaultSpec spec) {
        periods.add(new Period(spec.path(), errnos(spec), System.nanoTime(), true));
        listing |= spec.requests().contains(Request.STATUS) || spec.requests().contains(Request.LIST);
        return source.inject(spec);
    }

    /** Whether the requests of a listing may fail now. */
    synchronized boolean concernListing() {
        return listing;
    }

    /** Records that reads of the file end early, until {@link #liftAll}. */
    synchronized void cut(String path) {
        periods.add(new Period(path, Set.of(Errno.ESTALE), System.nanoTime(), true));
    }

    /** Begins a fault of another kind on every file, until {@link #end}. */
    Period begin(Set<Integer> errnos) {
        return begin("", errnos);
    }

    /** Begins a fault of another kind on a file, or on all files below a directory. */
    synchronized Period begin(String path, Set<Integer> errnos) {
        Period period = new Period(path, errnos, System.nanoTime(), false);
        periods.add(period);
        return period;
    }

    synchronized void end(Period period) {
        period.toNs = System.nanoTime();
    }

    synchronized void liftAll() {
        source.liftAll();
        listing = false;
        long now = System.nanoTime();
        periods.removeIf(p -> p.toNs != STILL && now - p.toNs > FORGOTTEN_NS);
        for (Period period : periods) {
            if (period.toNs == STILL && period.lifted) {
                period.toNs = now;
            }
        }
    }

    /** The errors with which a read of {@code file} between these times may fail, by the faults at that time. */
    synchronized Set<Integer> allowed(String file, long startNs, long endNs) {
        Set<Integer> all = new HashSet<>();
        for (Period period : periods) {
            if (period.concerns(file) && period.overlaps(startNs, endNs)) {
                all.addAll(period.errnos);
            }
        }
        return all;
    }

    private static Set<Integer> errnos(FaultSpec spec) {
        return switch (spec.kind()) {
            case EIO -> Set.of(Errno.EIO);
            case ENOENT -> Set.of(Errno.ENOENT);
            case EACCES -> Set.of(Errno.EACCES);
            case ETIMEDOUT -> Set.of(Errno.ETIMEDOUT);
            case DELAY, EAGAIN -> Set.of(Errno.EIO);
            case HANG -> Set.of(Errno.EIO, Errno.ETIMEDOUT);
            case SHORT_READ -> Set.of();
        };
    }
}
