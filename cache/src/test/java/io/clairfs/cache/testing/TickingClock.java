package io.clairfs.cache.testing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A clock, as {@link System#nanoTime}, on which a microsecond passes with each look at it: a machine that stands still takes no time. */
public final class TickingClock implements LongSupplier {
    private static final long TICK_NS = TimeUnit.MICROSECONDS.toNanos(1);

    private final AtomicLong nowNs = new AtomicLong();

    @Override
    public long getAsLong() {
        return nowNs.addAndGet(TICK_NS);
    }
}
