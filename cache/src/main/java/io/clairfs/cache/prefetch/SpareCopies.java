package io.clairfs.cache.prefetch;

import io.clairfs.cache.placement.CopyAdmission;
import io.clairfs.cache.placement.LocalPlan;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Copies what the plan wants in memory to a slower tier too, where that has room to spare: a daemon that goes on for one that died, or a
 * mount that is made again, finds it there and need not ask the source (docs/decisions/restart.md).
 *
 * <p>It goes through the plan's order of the memory tier, in passes: what is not in memory yet comes by in a later one. Between passes it
 * rests, the longer the more there is to look at. The copies are leftovers to the plan, so each goes when its room is needed.
 * Thread-safe; one thread at a time copies, and others do not wait for it.
 */
final class SpareCopies {
    private static final int MEMORY = 0;
    private static final int LOOKS = 4096;
    private static final long SHORTEST_REST_NS = TimeUnit.MILLISECONDS.toNanos(50);

    /** A pass that took a second is followed by a rest of so many, doubled after each in a row that copied nothing. */
    private static final int REST_FOR_PASS = 50;

    private static final int MOST_DOUBLED = 5;

    private final int tier;
    private final CopyAdmission admission;
    private final LongSupplier clockNs;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private LocalPlan plan = LocalPlan.NONE;
    private int next;
    private boolean isComplete;
    private boolean hasCopied;
    private int fruitless;
    private CopyAdmission.Room room = CopyAdmission.Room.NONE;
    private long lookedNs;
    private long restsUntilNs;

    /** {@code clockNs} is as {@link System#nanoTime}. */
    SpareCopies(int tier, CopyAdmission admission, LongSupplier clockNs) {
        this.tier = tier;
        this.admission = admission;
        this.clockNs = clockNs;
    }

    /** Queues one copy, once everything is there that the plan wants in this tier. Returns false when there is none to make now. */
    boolean copyOne(LocalPlan now) {
        return copy(now, false);
    }

    /** The same before that, where there is room for all: a death that comes soon should not cost what is in memory either. */
    boolean copyOneAtOnce(LocalPlan now) {
        return copy(now, true);
    }

    private boolean copy(LocalPlan now, boolean atOnce) {
        if (tier == MEMORY || !lock.tryLock()) {
            return false;
        }
        try {
            follow(now);
            boolean may = room == CopyAdmission.Room.FOR_ALL || (room == CopyAdmission.Room.SPARE && !atOnce);
            return may && copyNext();
        } finally {
            lock.unlock();
        }
    }

    @SuppressWarnings("ReferenceEquality") // the same plan, not one that is alike
    private void follow(LocalPlan now) {
        if (now != plan) {
            plan = now;
            fruitless = 0;
            hasCopied = false;
            beginPass(clockNs.getAsLong());
            room = admission.room(now, tier);
        }
    }

    private boolean copyNext() {
        long beganNs = clockNs.getAsLong();
        if (beganNs - restsUntilNs < 0) {
            return false;
        }
        int[] order = plan.fillOrder(MEMORY);
        int end = Math.min(order.length, next + LOOKS);
        boolean copied = false;
        while (!copied && next < end) {
            switch (admission.copy(order[next], tier)) {
                case QUEUED -> {
                    copied = true;
                    hasCopied = true;
                    isComplete = false; // the next pass sees whether the disk has taken it
                }
                case NOT_NEEDED -> {}
                case NOT_NOW -> isComplete = false;
            }
            next++;
        }
        long nowNs = clockNs.getAsLong();
        lookedNs += nowNs - beganNs;
        if (next == order.length) {
            fruitless = hasCopied ? 0 : Math.min(fruitless + 1, MOST_DOUBLED);
            hasCopied = false;
            long restNs =
                    isComplete ? Long.MAX_VALUE / 2 : Math.max(SHORTEST_REST_NS, REST_FOR_PASS * lookedNs) << fruitless;
            beginPass(nowNs + restNs);
        }
        return copied || next > 0;
    }

    private void beginPass(long atNs) {
        next = 0;
        isComplete = true;
        lookedNs = 0;
        restsUntilNs = atNs;
    }
}
