package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.tier.TierFailures;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The failures of a medium, and whether it may be written to again.
 *
 * <p>After a failed write nothing is written for a while: a full or read-only disk stays so for longer than it takes to read the next
 * sample. Each kind of failure is logged at most once a minute; all failures are counted.
 */
final class MediumHealth {
    private static final long BACK_OFF_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long LINE_EVERY_NS = TimeUnit.MINUTES.toNanos(1);
    private static final long FULL_LINE_EVERY_NS = TimeUnit.HOURS.toNanos(1);

    private final LongSupplier clock;
    private final Consumer<String> errors;
    private final Kind checksums = new Kind();
    private final Kind reads = new Kind();
    private final Kind writes = new Kind();
    private final AtomicLong fullLineNs = new AtomicLong();
    private volatile boolean fullTold;
    private volatile long retryAtNs;
    private volatile boolean everFailed;

    MediumHealth(LongSupplier clock, Consumer<String> errors) {
        this.clock = clock;
        this.errors = errors;
    }

    /** One kind of failure: its count, and when it may be logged next. */
    private static final class Kind {
        private final LongAdder count = new LongAdder();
        private final AtomicLong nextLineNs = new AtomicLong();
        private volatile boolean told;
    }

    void wrongChecksum(String message) {
        happened(checksums, message);
    }

    void readFailed(String message) {
        happened(reads, message);
    }

    void writeFailed(String message) {
        happened(writes, message);
        retryAtNs = clock.getAsLong() + BACK_OFF_NS;
        everFailed = true;
    }

    /** The tier has room and the disk has none: no failure, but logged at most once an hour. */
    void diskFull(String message) {
        long now = clock.getAsLong();
        long next = fullLineNs.get();
        if ((!fullTold || now - next >= 0) && fullLineNs.compareAndSet(next, now + FULL_LINE_EVERY_NS)) {
            fullTold = true;
            errors.accept(message);
        }
    }

    /** Counts a failure after its line, if it has one: whoever sees the count finds the reason. */
    private void happened(Kind kind, String message) {
        long now = clock.getAsLong();
        long next = kind.nextLineNs.get();
        if ((!kind.told || now - next >= 0) && kind.nextLineNs.compareAndSet(next, now + LINE_EVERY_NS)) {
            kind.told = true;
            errors.accept(message);
        }
        kind.count.increment();
    }

    /** Whether a write may be tried. */
    boolean mayWrite() {
        return !everFailed || clock.getAsLong() - retryAtNs >= 0;
    }

    TierFailures failures() {
        return new TierFailures(checksums.count.sum(), reads.count.sum(), writes.count.sum());
    }
}
