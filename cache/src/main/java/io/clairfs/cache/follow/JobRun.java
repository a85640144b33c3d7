package io.clairfs.cache.follow;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.stage.StagedCount;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import io.clairfs.cache.status.NodeTraffic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One job under way: the streams of its ranks on this node, and where its trainer is in them.
 *
 * <p>{@link #read} ticks off what the trainer read. When its reads leave the prediction for a while, {@link #search} looks for the last of
 * them in the orders of the epochs around, nearest first, and the streams go on from where they are found.
 *
 * <p>Life cycle: the prefetcher makes it when the job starts, and closes it when the job ends or is replaced; once closed it stages
 * nothing. Its one lock guards the windows and the follower. It comes after that of {@code LoaderShares}. Those of the staging buffer, the
 * orders and the write-back queues are taken inside. Nothing is fetched, pushed or dropped under it, and no order is computed under it once
 * {@link EpochOrders#computeAside} has been called: a stream pauses where an order is still being computed. {@link #asked} never takes it.
 */
public final class JobRun {
    /** In place of a distance: no trainer of the job is about to read the file. */
    public static final long NOT_EXPECTED = Long.MAX_VALUE;

    private static final int MOST_ASKED = 64;
    private static final int READY_LOOKED_AT = 256;

    /** Most epochs whose order files may be gone where a job begins in its middle. */
    private static final int MOST_GONE = 400;

    private static final double NANOS_PER_SECOND = 1e9;

    private final JobSpec spec;
    private final SampleIndex index;
    private final StagingBuffer staging;
    private final EpochOrders orders;
    private final List<StreamWindow> windows = new ArrayList<>();

    /** What is staged for each stream, and for all. */
    private final List<StagedCount> stagedOf;

    private final StagedCount staged;

    /** The position where the job begins. */
    private final long start;

    /** How many samples a rank reads in an epoch. */
    private final int usualLength;

    private final TrainerFollower follower;

    /** Requests of readers that were not heeded yet; when it is full, further ones are dropped. */
    private final ArrayBlockingQueue<Asked> asked = new ArrayBlockingQueue<>(MOST_ASKED);

    private boolean closed;
    private boolean followsRequests;
    private volatile int lastEpoch;

    private record Asked(int file, IntPredicate isInMemory) {}

    /**
     * A job whose trainer has not read anything yet.
     *
     * @param clockNs a clock that only runs forward, nanoseconds
     */
    public JobRun(JobSpec spec, SampleIndex index, DatasetTree tree, StagingBuffer staging, LongSupplier clockNs)
            throws InvalidSpecException {
        this(spec, index, tree, staging, new EpochOrders(spec.sampler(index), index.size(), clockNs), clockNs);
    }

    /** As the other constructor, with the orders of {@code spec}. */
    public JobRun(
            JobSpec spec,
            SampleIndex index,
            DatasetTree tree,
            StagingBuffer staging,
            EpochOrders orders,
            LongSupplier clockNs)
            throws InvalidSpecException {
        this(spec, index, tree, staging, orders, clockNs, new long[0]);
    }

    /**
     * A job whose trainers are somewhere in their streams.
     *
     * @param positions of the ranks that read here, as {@link #positions} told; empty for the beginning
     */
    public JobRun(
            JobSpec spec,
            SampleIndex index,
            DatasetTree tree,
            StagingBuffer staging,
            EpochOrders orders,
            LongSupplier clockNs,
            long[] positions)
            throws InvalidSpecException {
        this.spec = spec;
        this.index = index;
        this.staging = staging;
        this.orders = orders;
        boolean isInItsMiddle = positions.length > 0 || isFirstOrderGone();
        int begin = isInItsMiddle && positions.length == 0 ? firstEpochThere() : spec.startEpoch();
        usualLength = usualLength(positions, begin);
        start = begin == spec.startEpoch()
                ? AccessStream.position(begin, Math.multiplyExact(spec.startStep(), spec.batch()))
                : AccessStream.position(begin, 0);
        for (int rank = spec.firstRank(); rank <= spec.lastRank(); rank++) {
            int at = rank - spec.firstRank();
            long from = at < positions.length ? Math.max(start, positions[at]) : start;
            windows.add(new StreamWindow(new AccessStream(orders, rank, spec.epochs()), index, tree, staging, from));
        }
        extendTogether();
        stagedOf = windows.stream()
                .map(window -> new StagedCount(List.of(window), clockNs))
                .toList();
        staged = windows.size() == 1 ? stagedOf.getFirst() : new StagedCount(windows, clockNs);
        follower = new TrainerFollower(spec, index, windows, usualLength, isInItsMiddle, clockNs);
        lastEpoch = begin;
        int _ = epoch();
    }

    /** Whether there is no order file of the first epoch. One that cannot be read now may be there. */
    private boolean isFirstOrderGone() throws InvalidSpecException {
        try {
            EpochOrder _ = orders.epoch(spec.startEpoch());
            return false;
        } catch (OrderNotReadyException e) {
            return e.isMissing();
        }
    }

    /**
     * The first epoch whose order file is there. A node that is mounted anew during a training finds those of finished epochs removed, and its
     * trainers no earlier than that. The first of the job where no file is there: the job waits, and its trainers are searched for when they read.
     */
    private int firstEpochThere() {
        int first = spec.startEpoch();
        return IntStream.range(first + 1, Math.min(spec.epochs(), first + MOST_GONE))
                .filter(orders::isReady)
                .findFirst()
                .orElse(first);
    }

    /**
     * That of the epoch in which the trainers begin, or are. Where its order is not there for a moment, or has no sample, it is an even share of the
     * samples.
     */
    private int usualLength(long[] positions, int begin) throws InvalidSpecException {
        long at = Arrays.stream(positions).min().orElse(AccessStream.END);
        int epoch = at == AccessStream.END ? begin : Math.max(begin, AccessStream.epoch(at));
        int length = 0;
        try {
            long skipped = epoch == spec.startEpoch() ? spec.skippedByTheLoader() : 0;
            length = Math.clamp(orders.epoch(epoch).length(spec.firstRank()) + skipped, 0, Integer.MAX_VALUE);
        } catch (OrderNotReadyException e) {
            // the streams wait for it
        }
        return length == 0 ? Math.ceilDiv(index.size(), spec.world()) : length;
    }

    /** Extends all windows epoch by epoch, so that each order is computed once for all ranks, however many epochs a window covers. */
    private void extendTogether() throws InvalidSpecException {
        boolean more = true;
        long first = windows.stream().mapToLong(StreamWindow::position).min().orElse(start);
        for (int epoch = AccessStream.epoch(Math.min(first, AccessStream.position(spec.epochs(), 0))); more; epoch++) {
            more = false;
            for (StreamWindow window : windows) {
                more |= window.extend(epoch);
            }
        }
    }

    public JobSpec spec() {
        return spec;
    }

    public SampleIndex index() {
        return index;
    }

    /** The orders of this job's epochs. */
    public EpochOrders orders() {
        return orders;
    }

    /** How many samples a rank reads in an epoch. */
    public int usualLength() {
        return usualLength;
    }

    /** As {@link #epoch}, when something was read last. Takes no lock. */
    public int lastEpoch() {
        return lastEpoch;
    }

    /** The epoch that the first rank is in; the number of epochs when all is read. Where no rank reads here, that in which the job begins. */
    public synchronized int epoch() {
        if (windows.isEmpty()) {
            return AccessStream.epoch(start);
        }
        long position = windows.getFirst().position();
        int epoch = position == AccessStream.END ? spec.epochs() : AccessStream.epoch(position);
        lastEpoch = epoch;
        return epoch;
    }

    /** When a rank that reads here reads this file next, within the next epochs; null when none does. */
    public SampleLocation.@Nullable NextUse nextUse(int file) throws InvalidSpecException {
        int sample = index.sampleOf(file);
        long[] from = new long[windows.size()];
        synchronized (this) {
            Arrays.setAll(from, stream -> windows.get(stream).position());
        }
        return sample < 0 ? null : NextUseSearch.of(sample, spec, orders, from);
    }

    /** Whether any of it was read. */
    public synchronized boolean hasBegun() {
        return follower.hasBegun();
    }

    /** Whether reads follow the prediction, in the epoch that the job says. */
    public synchronized boolean isInSync() {
        return follower.isInSync();
    }

    /**
     * Whether its trainer does not follow the prediction, and a search for it was in vain. Between this and {@link #isInSync} it was lost sight of
     * a moment ago, because reports of reads were lost or because it went on elsewhere, and is still to be searched for.
     */
    public synchronized boolean isLost() {
        return follower.isLost();
    }

    /** The capacity of the staging buffer, which all jobs share. */
    public long stagingBytes() {
        return staging.capacityBytes();
    }

    /** How many ranks read here. */
    public int streams() {
        return windows.size();
    }

    /**
     * The next position of one stream to stage, or null.
     *
     * @param shareBytes what each stream may have staged and unread
     */
    public synchronized StreamWindow.@Nullable ToStage nextToStage(int stream, long shareBytes)
            throws InvalidSpecException {
        if (!closed) {
            heedAsked();
        }
        // A loader may still have a closed job on its list, and nothing would release what it took now.
        return closed ? null : windows.get(stream).nextToStage(shareBytes);
    }

    /** Whether a stream has less than {@code bytes} staged before its trainer, and more to stage. */
    public synchronized boolean isHungry(int stream, long bytes) {
        return !closed && windows.get(stream).isHungry(bytes);
    }

    /** The first {@code most} staged and unread positions of a stream from a sequence number on, in order. */
    public synchronized List<StreamWindow.StagedPosition> stagedFrom(int stream, long from, int most) {
        return closed ? List.of() : windows.get(stream).stagedFrom(from, most);
    }

    /** The samples of these positions were lost: they are staged next. */
    public synchronized void stageAgain(int stream, List<StreamWindow.StagedPosition> lost) {
        lost.forEach(position -> windows.get(stream).stageAgain(position.sequence()));
    }

    /** Passes the next {@code most} files that a stream stages to {@code each}, in order. */
    public synchronized void forEachToStage(int stream, int most, IntConsumer each) {
        windows.get(stream).forEachToStage(most, each);
    }

    /** How many samples are staged before the trainer of a stream. */
    public synchronized int stagedAhead(int stream) {
        return stagedOf.get(stream).samples();
    }

    /** How long the trainer of a stream can go on with what is staged, seconds; 0 when that is not known. */
    public synchronized double secondsStaged(int stream) {
        return windows.get(stream).readyAhead(READY_LOOKED_AT) * follower.nsPerSample(stream) / NANOS_PER_SECOND;
    }

    /** How long the trainer of a stream takes for so many samples, seconds; 0 when that is not known. */
    public synchronized double secondsOf(int stream, int samples) {
        return samples * follower.nsPerSample(stream) / NANOS_PER_SECOND;
    }

    /** The position of the hindmost rank of this node; {@link AccessStream#END} when all is read. Where no rank reads here, the beginning. */
    public synchronized long position() {
        return windows.stream().mapToLong(StreamWindow::position).min().orElse(start);
    }

    /** Whether the rank of a stream has read all. */
    public synchronized boolean isAtEnd(int stream) {
        return windows.get(stream).position() == AccessStream.END;
    }

    /** The position of each rank that reads here, in the order of the ranks; {@link AccessStream#END} where all is read. */
    public synchronized long[] positions() {
        return windows.stream().mapToLong(StreamWindow::position).toArray();
    }

    /**
     * Has the order of the next epoch computed when the ranks will soon be staged from it: aside, or else by the caller. Holds up no thread that
     * works in this epoch.
     */
    public void prepareNextEpoch() {
        int next;
        synchronized (this) {
            long least =
                    windows.stream().mapToLong(StreamWindow::tailPosition).min().orElse(AccessStream.END);
            long most =
                    windows.stream().mapToLong(StreamWindow::tailPosition).max().orElse(AccessStream.END);
            if (closed || most == AccessStream.END || AccessStream.epoch(least) != AccessStream.epoch(most)) {
                return;
            }
            next = AccessStream.epoch(most) + 1;
            if (next >= spec.epochs() || AccessStream.step(least) < usualLength / 2) {
                return; // it would only take memory
            }
        }
        try {
            EpochOrder _ = orders.now(next);
        } catch (InvalidSpecException e) {
            // The ranks will meet the error themselves.
        }
    }

    /** Why the order of the next epoch is not ready though a rank has read all before it; null when no rank waits for it. */
    public synchronized @Nullable String awaitedOrder() {
        return windows.stream()
                .map(StreamWindow::awaitedOrder)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** How far from the last reads of a trainer it will read this file, positions; {@link #NOT_EXPECTED} if none is about to. */
    public synchronized long distance(int file) {
        return closed ? NOT_EXPECTED : follower.distance(file);
    }

    /** Another reader than this job's trainers has read this file, and perhaps they have, too: one report may be of both. */
    public synchronized void readBeside(int file) {
        if (!closed) {
            follower.readBeside(file);
        }
    }

    /**
     * A reader has read this file. Returns whether its sample was expected about now.
     */
    public synchronized boolean read(int file) throws InvalidSpecException {
        if (!closed) {
            heedAsked();
        }
        boolean expected = follower.read(file);
        int _ = epoch();
        return expected;
    }

    /**
     * A trainer in the wrong epoch.
     *
     * @param epoch the one that it reads
     * @param expected the one that the job says
     */
    public record Astray(int epoch, int expected) {}

    /** Closes of files are not reported: leaves some positions unstaged, for readers to ask for. */
    public synchronized void followByRequests() {
        followsRequests = true;
        windows.forEach(StreamWindow::leaveTracers);
    }

    /** A reader had to ask for this file: it counts as read, in the stream that comes to it first, as does all that its trainer's loaders cannot still have before them. */
    public synchronized void reached(int file) throws InvalidSpecException {
        StreamWindow nearest = null;
        long sequence = Long.MAX_VALUE;
        long distance = Long.MAX_VALUE;
        for (StreamWindow window : windows) {
            StreamWindow.Slot slot = window.nearest(file, window.headSequence());
            if (slot != null && Math.abs(slot.sequence - window.headSequence()) < distance) {
                nearest = window;
                sequence = slot.sequence;
                distance = Math.abs(sequence - window.headSequence());
            }
        }
        if (nearest != null) {
            nearest.readUpTo(sequence - Math.max(1, spec.window()));
        }
        read(file);
    }

    /**
     * A reader has to ask for the whole of this file, and the report of its close is still to come. Never waits, for a reader would wait
     * with it. Heeded with the next position that is staged or read.
     *
     * @param isInMemory whether a file could be given at once
     */
    public void asked(int file, IntPredicate isInMemory) {
        asked.offer(new Asked(file, isInMemory));
    }

    private void heedAsked() {
        for (Asked next = asked.poll(); next != null; next = asked.poll()) {
            follower.asked(next.file, next.isInMemory);
        }
    }

    /** Reports of reads were lost: whatever is staged may have been read. */
    public synchronized void reportsLost() throws InvalidSpecException {
        for (StreamWindow window : windows) {
            window.readUpTo(window.stagedUpTo() - 1);
        }
        follower.reportsLost();
    }

    /** Whether to search for the trainer; the caller then runs {@link #search} where it may take a while. */
    public synchronized boolean wantsSearch() {
        return follower.wantsSearch();
    }

    /** The search that {@link #wantsSearch} wanted could not be begun. */
    public synchronized void searchNotBegun() {
        follower.searchEnded();
    }

    /**
     * Looks for the trainer as {@link #search} does, though no search is due, unless it is in sync. Returns whether the trainer follows the
     * prediction then.
     */
    public boolean searchNow() throws InvalidSpecException {
        boolean searches;
        synchronized (this) {
            searches = follower.wantsSearchNow();
        }
        if (searches) {
            search();
        }
        return !isLost();
    }

    /**
     * Looks for the trainer in the orders of the epochs around, nearest first, and moves the streams to where it is. Takes a while, and the
     * job's lock for moments of it.
     *
     * @return whether it was found
     */
    public boolean search() throws InvalidSpecException {
        boolean found = new StreamSearch(this, spec.startEpoch(), spec.epochs(), orders, windows, follower).run();
        int _ = epoch();
        return found;
    }

    /**
     * Where a job is, for status.
     *
     * @param epoch the epoch that the first rank is in; the number of epochs when all is read
     * @param position how many samples of that epoch the first rank has read
     * @param length how many samples the first rank reads in it
     * @param deviations reads of this dataset that did not follow the prediction
     * @param astray set while the trainer is followed through an epoch that is not the one the job says
     * @param inNameOrder whether nearly all reads were in name order for more than an epoch
     * @param stagedAhead samples staged and unread, over all ranks, each once
     */
    public record Progress(
            int epoch,
            int position,
            int length,
            boolean done,
            boolean inSync,
            long deviations,
            @Nullable Astray astray,
            boolean inNameOrder,
            int stagedAhead) {}

    /**
     * How often the ranks that read here were ready together.
     *
     * @param steps that count: all ranks were seen to read their batches of the step. 0 with fewer than two ranks, or a batch that is not known
     * @param imbalanced those in which one rank was later than another by more than a tenth of the step: Lobster, section 5.3
     */
    public record Balance(long steps, long imbalanced) {}

    public synchronized Balance balance() {
        return new Balance(follower.balance().steps(), follower.balance().imbalanced());
    }

    /**
     * What the epochs of a job took.
     *
     * @param epochs the last ones, in order; the last of them may be under way
     * @param readerWaitSeconds in which at least one of its readers here waited for an answer of the daemon; never shrinks
     * @param sampleSeconds what a sample takes its trainers here, all together, while no reader waits; 0 while that is not known
     */
    public record Times(List<EpochTime> epochs, double readerWaitSeconds, double sampleSeconds) {}

    public synchronized Times times() {
        TrainingTimes times = follower.times();
        return new Times(times.epochs(), times.readerWaitSeconds(), times.sampleSeconds());
    }

    /** A reader has waited for an answer about this file from one time of the clock to another. */
    public synchronized void waited(int file, long startNs, long endNs) {
        if (!closed) {
            follower.waited(file, startNs, endNs, followsRequests);
        }
    }

    /** The trainer of a rank says how long its loop took since it said so last, and how much of that it waited for batches. */
    public synchronized void told(int rank, double waitedSeconds, double tookSeconds) {
        follower.times().told(rank, waitedSeconds, tookSeconds);
    }

    /** What the node has read and fetched until now, for the epoch that is being read. */
    public synchronized void traffic(NodeTraffic now) {
        follower.times().traffic(now);
    }

    public synchronized Progress progress() throws InvalidSpecException {
        if (windows.isEmpty()) {
            return new Progress(AccessStream.epoch(start), 0, 0, false, true, 0, null, false, 0);
        }
        StreamWindow first = windows.getFirst();
        long position = first.position();
        boolean done = position == AccessStream.END;
        int epoch = epoch();
        return new Progress(
                epoch,
                done ? 0 : AccessStream.step(position),
                length(first.stream(), done, epoch),
                done,
                follower.isInSync(),
                follower.deviations(),
                follower.astray(),
                follower.isInNameOrder(),
                staged.samples());
    }

    private int length(AccessStream stream, boolean done, int epoch) throws InvalidSpecException {
        if (done && spec.epochs() == JobSpec.UNLIMITED) {
            return 0;
        }
        try {
            return stream.length(done ? spec.epochs() - 1 : epoch);
        } catch (OrderNotReadyException gone) { // as that of a finished epoch, for a process that goes on
            return usualLength;
        }
    }

    /** Releases everything that is staged for this job; nothing is staged afterwards. */
    public synchronized void close() {
        closed = true;
        orders.abandon();
        windows.forEach(StreamWindow::close);
    }
}
