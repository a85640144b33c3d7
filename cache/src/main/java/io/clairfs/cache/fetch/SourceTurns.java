package io.clairfs.cache.fetch;

import io.clairfs.cache.plan.model.Contention;
import io.clairfs.cache.plan.model.Throughput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which sample may request its next piece from the source: the most urgent, while the bytes in flight are within the
 * {@link InFlightLimit}.
 *
 * <p>Each piece is a turn of its own. So an urgent sample waits behind another's megabytes for one piece at most, and a trial of a higher
 * limit costs the first sample a few pieces. A piece that is long overdue no longer counts as in flight: one file that hangs keeps no other
 * waiting. The memory of samples of which a piece has been read is bounded; a sample that has begun goes on when another may not begin, and what ends leaves its
 * memory to the first that waits for some. Beyond the bound
 * one sample that a reader waits for goes on at a time, and another beside each of a few that are overdue. Not thread-safe; {@link SourceGate} guards it.
 */
final class SourceTurns {
    /** The default bytes of samples under way from the source; a larger sample comes alone. A source that hangs holds so much memory. */
    static final long MOST_BEGUN_BYTES = 512L << 20;

    private static final long OVERDUE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int OVERDUE_TIMES = 8;

    /** So many overdue samples of readers let others begin beyond the bound of memory. */
    private static final int MOST_OVERDUE_BESIDE = 16;

    private static final double NEWEST_WEIGHS = 1.0 / 8;
    private static final Comparator<Turn> ORDER = Comparator.<Turn, FetchUrgency>comparing(turn -> turn.urgency)
            .thenComparingLong(turn -> turn.order)
            .thenComparingLong(turn -> turn.number);

    private final long mostBegunBytes;
    private final LongSupplier clockNs;
    private final InFlightLimit limit = new InFlightLimit();
    private final RateByReaders rate = new RateByReaders(NEWEST_WEIGHS, InFlightLimit.LONGEST_PAUSE_NS);
    private final TreeSet<Turn> waiting = new TreeSet<>(ORDER);
    private final List<Turn> asked = new ArrayList<>();
    private long inFlight;
    private long begun;
    private int begunForReaders;
    private long turns;
    private boolean held;

    /**
     * How long a piece takes, nanoseconds; grows with the bytes in flight. One that was overdue counts as one that was just in time, so that a file that hung
     * does not let the next one keep others waiting.
     */
    private double pieceNs = 2.0 * OVERDUE_NS / OVERDUE_TIMES;

    /** {@code clockNs} is as {@link System#nanoTime}. */
    SourceTurns(LongSupplier clockNs) {
        this(MOST_BEGUN_BYTES, clockNs);
    }

    /** Samples under way may take {@code mostBegunBytes}; those that nobody waits for, three quarters of it. */
    SourceTurns(long mostBegunBytes, LongSupplier clockNs) {
        this.mostBegunBytes = mostBegunBytes;
        this.clockNs = clockNs;
    }

    /** One sample on its way from the source. */
    static final class Turn {
        private final long bytes;
        private final double madePerByte;
        private final long number;
        private final Runnable granted;
        private FetchUrgency urgency;
        private long order;
        private long piece;
        private boolean begun;
        private boolean begunForReader;
        private boolean asked;
        private boolean has;
        private boolean overdue;

        /** When it entered, then when it had its last turn. */
        private long sinceNs;

        private Turn(
                long bytes,
                double madePerByte,
                FetchUrgency urgency,
                long order,
                long number,
                long nowNs,
                Runnable granted) {
            this.granted = granted;
            sinceNs = nowNs;
            this.bytes = bytes;
            this.madePerByte = madePerByte;
            this.urgency = urgency;
            this.order = order;
            this.number = number;
        }

        /** Whether it may read its piece now. */
        boolean has() {
            return has;
        }

        /** Whether its piece, or what comes before the first, has been at the source for longer than {@code afterNs}. */
        boolean isLost(long nowNs, long afterNs) {
            return (has || !asked) && nowNs - sinceNs > afterNs;
        }
    }

    /**
     * Registers a sample of which no piece was requested yet.
     *
     * @param order among equally urgent ones the smaller goes first
     * @param granted called whenever the sample gets a turn
     */
    Turn enter(long bytes, FetchUrgency urgency, long order, Runnable granted) {
        return enter(bytes, 1, urgency, order, granted);
    }

    /**
     * The same for a sample that takes {@code bytes} of memory and is made of other bytes.
     *
     * @param madePerByte bytes of the sample for each byte of its source: the source's rate is measured in bytes of samples
     */
    Turn enter(long bytes, double madePerByte, FetchUrgency urgency, long order, Runnable granted) {
        return new Turn(bytes, madePerByte, urgency, order, turns++, clockNs.getAsLong(), granted);
    }

    /** Queues for a turn to read {@code piece} bytes; the piece before has arrived. */
    void ask(Turn turn, long piece) {
        if (turn.has) {
            arrived(turn);
        }
        turn.asked = true;
        turn.piece = piece;
        waiting.add(turn);
        grant();
    }

    /** The sample's last piece has arrived; it goes on taking its memory until it {@link #leave leaves}. */
    void ended(Turn turn) {
        if (turn.has) {
            arrived(turn);
            grant();
        }
    }

    /** The sample is complete, or given up. */
    void leave(Turn turn, boolean complete) {
        waiting.remove(turn);
        if (turn.has) {
            if (complete) {
                arrived(turn);
            } else {
                handBack(turn);
            }
        }
        if (turn.begun) {
            end(turn);
        }
        grant();
    }

    private void arrived(Turn turn) {
        long now = clockNs.getAsLong();
        rate.arrived(asked.size(), (long) (turn.madePerByte * turn.piece), now - turn.sinceNs, now);
        handBack(turn);
        pieceNs += NEWEST_WEIGHS * (Math.min(now - turn.sinceNs, overdueNs()) - pieceNs);
        limit.arrived(turn.piece, now, held);
    }

    private void handBack(Turn turn) {
        turn.has = false;
        asked.remove(turn);
        if (!turn.overdue) {
            inFlight -= turn.piece;
        }
    }

    /** The sample is needed sooner than was known. */
    void urge(Turn turn, FetchUrgency urgency, long order) {
        boolean waits = waiting.remove(turn);
        turn.urgency = urgency;
        turn.order = order;
        if (waits) {
            waiting.add(turn);
            grant();
        }
    }

    /** Gives turns to the samples that may have one now. */
    void grant() {
        long now = clockNs.getAsLong();
        passOverOverdue(now);
        held = false;
        boolean isKeptFree = false;
        for (Iterator<Turn> turns = waiting.iterator(); turns.hasNext() && !held; ) {
            Turn next = turns.next();
            if (!next.begun && (isKeptFree || !mayBegin(next))) {
                isKeptFree = isKeptFree || isSoonToBegin(next);
                continue;
            }
            if (inFlight > 0 && inFlight + next.piece > limit.bytes()) {
                held = true;
                break;
            }
            turns.remove();
            if (!next.begun) {
                begin(next);
            }
            next.has = true;
            next.overdue = false;
            next.sinceNs = now;
            inFlight += next.piece;
            asked.add(next);
            next.granted.run();
        }
        held |= inFlight + InFlightLimit.PIECE_BYTES > limit.bytes();
    }

    /** Beyond the bound, a sample that a reader or peer waits for may begin if no other such sample has. */
    private boolean mayBegin(Turn turn) {
        return begun == 0
                || begun + turn.bytes <= mostBegun(turn)
                || (isWaitedFor(turn) && begunForReaders <= overdueOfReaders());
    }

    /** Whether it may begin when those end that are not overdue. Until then none that comes after it may, else smaller ones would keep a large one out for ever. */
    private boolean isSoonToBegin(Turn turn) {
        long most = mostBegun(turn);
        long overdue = asked.stream()
                .filter(each -> each.overdue)
                .mapToLong(each -> each.bytes)
                .sum();
        return overdue + Math.min(turn.bytes, most) <= most;
    }

    private long mostBegun(Turn turn) {
        return isWaitedFor(turn) ? mostBegunBytes : mostBegunBytes / 4 * 3;
    }

    private long overdueOfReaders() {
        return begunForReaders == 0
                ? 0
                : asked.stream()
                        .filter(turn -> turn.overdue && turn.begunForReader)
                        .limit(MOST_OVERDUE_BESIDE)
                        .count();
    }

    private static boolean isWaitedFor(Turn turn) {
        return turn.urgency.isMoreUrgentThan(FetchUrgency.STAGING);
    }

    private void begin(Turn turn) {
        turn.begun = true;
        turn.begunForReader = isWaitedFor(turn);
        begun += turn.bytes;
        begunForReaders += turn.begunForReader ? 1 : 0;
    }

    private void end(Turn turn) {
        turn.begun = false;
        begun -= turn.bytes;
        begunForReaders -= turn.begunForReader ? 1 : 0;
    }

    private void passOverOverdue(long now) {
        for (Turn turn : asked) {
            if (!turn.overdue && now - turn.sinceNs >= overdueNs()) {
                turn.overdue = true;
                inFlight -= turn.piece;
            }
        }
    }

    /** Time until {@link #grant} may give a turn though nothing arrives, nanoseconds. */
    long nextLookNs() {
        long now = clockNs.getAsLong();
        long soonest = overdueNs();
        for (Turn turn : asked) {
            if (!turn.overdue) {
                soonest = Math.min(soonest, turn.sinceNs + overdueNs() - now);
            }
        }
        return Math.max(1, soonest);
    }

    private long overdueNs() {
        return Math.max(OVERDUE_NS, (long) (OVERDUE_TIMES * pieceNs));
    }

    /** The source's rate by readers as measured lately, and how many fillers read it now; null before the first piece. */
    @Nullable
    Contention contention() {
        Throughput curve = rate.curve(clockNs.getAsLong());
        long fillers = asked.stream()
                .filter(turn -> turn.urgency == FetchUrgency.FILLING)
                .count();
        return curve == null ? null : new Contention(curve, fillers);
    }

    /** How many samples wait for their turn. */
    int waiting() {
        return waiting.size();
    }

    long limitBytes() {
        return limit.bytes();
    }

    long inFlightBytes() {
        return inFlight;
    }

    long begunBytes() {
        return begun;
    }
}
