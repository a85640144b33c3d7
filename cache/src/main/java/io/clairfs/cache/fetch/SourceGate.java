package io.clairfs.cache.fetch;

import io.clairfs.cache.plan.model.Contention;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.worker.OnDemandThread;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The one way to the source for samples: threads that fetch wait here for their turn, a piece at a time ({@link SourceTurns}). Thread-safe.
 *
 * <p>The wait has no bound of its own: a turn that the source does not give back in time is passed over, so every waiter moves up. The
 * gate's lock is the innermost.
 */
final class SourceGate {
    private final LongSupplier clockNs;
    private final ReentrantLock lock = new ReentrantLock();
    private final SourceTurns turns;
    private final Executor replies = new OnDemandThread("piece-replies");

    /**
     * A gate.
     *
     * @param mostBegunBytes bytes that samples under way may take at once
     * @param clockNs as {@link System#nanoTime}
     */
    SourceGate(long mostBegunBytes, LongSupplier clockNs) {
        this.clockNs = clockNs;
        turns = new SourceTurns(mostBegunBytes, clockNs);
    }

    /** Registers a sample to fetch; the caller closes the pass. Does not wait. {@code progress} is called without the gate's lock. */
    Pass enter(long bytes, FetchUrgency urgency, long order, LongConsumer progress) {
        return enter(bytes, bytes, 1, urgency, order, progress);
    }

    /** The same for what a view makes of {@code bytes} of the source; both are in memory until the caller closes the pass. */
    Pass enterForView(long bytes, long madeBytes, FetchUrgency urgency, long order) {
        double madePerByte = (double) madeBytes / Math.max(1, bytes);
        return enter(bytes, bytes + madeBytes, madePerByte, urgency, order, _ -> {});
    }

    private Pass enter(
            long bytes, long inMemory, double madePerByte, FetchUrgency urgency, long order, LongConsumer progress) {
        lock.lock();
        try {
            Condition granted = lock.newCondition();
            SourceTurns.Turn turn = turns.enter(inMemory, madePerByte, urgency, order, granted::signal);
            return new Pass(bytes, turn, granted, progress);
        } finally {
            lock.unlock();
        }
    }

    /** Answers readers of what has arrived, while the thread that fetches goes on: to copy a piece to the kernel takes as long as a fast source takes to give one. */
    void answer(Runnable readers) {
        replies.execute(readers);
    }

    /** See {@link SourceTurns#contention}. */
    @Nullable
    Contention contention() {
        lock.lock();
        try {
            return turns.contention();
        } finally {
            lock.unlock();
        }
    }

    /** How many samples wait for their turn. */
    int waiting() {
        lock.lock();
        try {
            return turns.waiting();
        } finally {
            lock.unlock();
        }
    }

    /** The right of one sample to be read, a piece at a time, by the thread that fetches it. */
    final class Pass implements Source.Pieces, AutoCloseable {
        private final long bytes;
        private final SourceTurns.Turn turn;
        private final LongConsumer progress;
        private final Condition granted;
        private boolean complete;
        private long first;

        /** Written by the thread that fetches. */
        private volatile long given;

        private Pass(long bytes, SourceTurns.Turn turn, Condition granted, LongConsumer progress) {
            this.granted = granted;
            this.bytes = bytes;
            this.turn = turn;
            this.progress = progress;
        }

        /** Waits for the first turn, which {@link #next} gives then. */
        void begin() {
            first = next(0);
        }

        @Override
        public long next(long at) {
            if (at == 0 && first > 0) {
                long piece = first;
                first = 0;
                return piece;
            }
            given = at;
            progress.accept(at);
            long piece = Math.min(InFlightLimit.PIECE_BYTES, bytes - at);
            lock.lock();
            try {
                if (piece == 0) {
                    turns.ended(turn);
                    complete = true;
                    return 0;
                }
                turns.ask(turn, piece);
                awaitTurn();
                return piece;
            } finally {
                lock.unlock();
            }
        }

        private void awaitTurn() {
            boolean interrupted = false;
            while (!turn.has()) {
                try {
                    long _ = granted.awaitNanos(turns.nextLookNs());
                } catch (InterruptedException e) {
                    interrupted = true; // the wait is bounded by others' turns, and goes on
                }
                turns.grant();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        /** How many bytes of the file the source has given. */
        long given() {
            return given;
        }

        /** The sample is needed sooner than was known. */
        void urge(FetchUrgency urgency, long order) {
            lock.lock();
            try {
                turns.urge(turn, urgency, order);
            } finally {
                lock.unlock();
            }
        }

        /** See {@link SourceTurns.Turn#isLost}. */
        boolean isLost(long afterNs) {
            lock.lock();
            try {
                return turn.isLost(clockNs.getAsLong(), afterNs);
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                turns.leave(turn, complete);
            } finally {
                lock.unlock();
            }
        }
    }
}
