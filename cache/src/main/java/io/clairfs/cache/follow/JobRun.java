package io.clairfs.cache.follow;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.PlannerOrders;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.status.NodeTraffic;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One job under way: the streams of its ranks on this node ({@link RankStream}), and where its trainer is in them ({@code TrainerFollower}).
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

    private final JobSpec spec;
    private final SampleIndex index;
    private final StagingBuffer staging;
    private final EpochOrders orders;
    private final PlannerOrders plannerOrders;
    private final int usualLength;
    private final JobStreams streams;
    private final TrainerFollower follower;
    private final LongSupplier clockNs;
    private final AskedFiles asked = new AskedFiles();
    private boolean closed;
    private boolean followsRequests;
    private volatile int lastEpoch;

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
        this(spec, index, tree, staging, orders, plannerOrders(spec, index, orders), clockNs, positions);
    }

    /** As the other constructor, with the orders of {@code spec} as the planner looks at them. */
    public JobRun(
            JobSpec spec,
            SampleIndex index,
            DatasetTree tree,
            StagingBuffer staging,
            EpochOrders orders,
            PlannerOrders plannerOrders,
            LongSupplier clockNs,
            long[] positions)
            throws InvalidSpecException {
        requireFiles(index);
        this.spec = spec;
        this.index = index;
        this.staging = staging;
        this.orders = orders;
        this.plannerOrders = plannerOrders;
        this.clockNs = clockNs;
        JobStart start = new JobStart(spec, index, orders, positions);
        usualLength = start.usualLength();
        streams = new JobStreams(this, spec, start, orders, index, tree, staging, clockNs);
        follower = new TrainerFollower(spec, index, streams, usualLength, start.isInItsMiddle(), clockNs);
        lastEpoch = streams.epoch();
    }

    /**
     * Refuses samples of which none has a file: no reader of such a job ever comes by the mount.
     *
     * @throws InvalidSpecException with the remedy
     */
    public static void requireFiles(SampleIndex index) throws InvalidSpecException {
        int samples = index.size();
        if (samples > 0 && IntStream.range(0, samples).allMatch(sample -> index.file(sample) == SampleIndex.NO_FILE)) {
            throw new InvalidSpecException("none of its " + samples
                    + " samples has its file in the source: they are links that lead out of it, or nowhere; mount the directory"
                    + " that holds the files, or copy the files in place of the links");
        }
    }

    private static PlannerOrders plannerOrders(JobSpec spec, SampleIndex index, EpochOrders orders) {
        return new PlannerOrders(orders, index.size(), spec.orderFile(), () -> spec.sampler(index));
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

    /** The same as the planner looks at them. */
    public PlannerOrders plannerOrders() {
        return plannerOrders;
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
        int epoch = streams.epoch();
        lastEpoch = epoch;
        return epoch;
    }

    /**
     * When a rank that reads here reads this file next, within the next epochs; null when none does.
     *
     * @param by tells the orders of the job's epochs, and is asked by the caller's thread
     * @throws io.clairfs.cache.order.OrderNotReadyException when {@code by} says that the file of an order does not answer
     */
    public SampleLocation.@Nullable NextUse nextUse(int file, Sampler by) throws InvalidSpecException {
        int sample = index.sampleOf(file);
        long[] from = positions();
        return sample < 0 ? null : NextUseSearch.of(sample, spec, by, from);
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

    /** Whether a search for its trainer is under way. Takes no lock. */
    public boolean isSearchedFor() {
        return follower.isSearchedFor();
    }

    /** The capacity of the staging buffer, which all jobs share. */
    public long stagingBytes() {
        return staging.capacityBytes();
    }

    /** How many ranks read here. */
    public int streams() {
        return streams.count();
    }

    /** The stream of one of them, in the order of the ranks. */
    public RankStream stream(int stream) {
        return streams.get(stream);
    }

    /** The position of the hindmost rank of this node; {@link AccessStream#END} when all is read. Where no rank reads here, the beginning. */
    public synchronized long position() {
        return streams.hindmost();
    }

    /** The position of each rank that reads here, in the order of the ranks; {@link AccessStream#END} where all is read. */
    public synchronized long[] positions() {
        return streams.positions();
    }

    /**
     * Has the order of the next epoch computed when the ranks will soon be staged from it: aside, or else by the caller. Holds up no thread that
     * works in this epoch.
     */
    public void prepareNextEpoch() {
        int next;
        synchronized (this) {
            next = closed ? -1 : streams.epochToPrepare();
        }
        if (next < 0) {
            return;
        }
        try {
            EpochOrder _ = orders.now(next);
        } catch (InvalidSpecException e) {
            // The ranks will meet the error themselves.
        }
    }

    /** Why the order of the next epoch is not ready though a rank has read all before it; null when no rank waits for it. */
    public synchronized @Nullable String awaitedOrder() {
        return streams.awaitedOrder();
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
        heedRequests();
        boolean expected = follower.read(file);
        int _ = epoch();
        return expected;
    }

    /** Closes of files are not reported: leaves some positions unstaged, for readers to ask for. */
    public synchronized void followByRequests() {
        followsRequests = true;
        streams.leaveTracers();
        follower.expectTracers();
    }

    /** A reader had to ask for this file: it counts as read, in the stream that comes to it first, as does all that its trainer's loaders cannot still have before them. */
    public synchronized void reached(int file) throws InvalidSpecException {
        streams.reached(file);
        read(file);
    }

    /**
     * A reader has to ask for the whole of this file, and the report of its close is still to come. Never waits, for a reader would wait
     * with it. Heeded with the next position that is staged or read.
     *
     * @param isInMemory whether a file could be given at once
     */
    public void asked(int file, IntPredicate isInMemory) {
        asked.add(file, isInMemory);
    }

    /** Whether it has ended; called under its lock. */
    boolean isClosed() {
        return closed;
    }

    /** Heeds what readers have {@link #asked} for; called under the lock. */
    void heedRequests() {
        if (!closed) {
            asked.heed(follower);
        }
    }

    /** Reports of reads were lost: whatever is staged may have been read. */
    public synchronized void reportsLost() throws InvalidSpecException {
        streams.readAllStaged();
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
        boolean found = new StreamSearch(
                        this, spec.startEpoch(), spec.epochs(), orders, streams.windows(), follower, clockNs)
                .run();
        int _ = epoch();
        return found;
    }

    /** How often the ranks that read here were ready together. */
    public synchronized RankBalance balance() {
        return new RankBalance(follower.balance().steps(), follower.balance().imbalanced());
    }

    /** What its epochs took. */
    public synchronized JobTimes times() {
        TrainingTimes times = follower.times();
        return new JobTimes(times.epochs(), times.readerWaitSeconds(), times.sampleSeconds());
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

    /** Where it is, for status. */
    public synchronized JobProgress progress() throws InvalidSpecException {
        int _ = epoch();
        return JobProgress.of(streams, follower);
    }

    /** Releases everything that is staged for this job; nothing is staged afterwards. */
    public synchronized void close() {
        closed = true;
        orders.abandon();
        plannerOrders.abandon();
        streams.close();
    }
}
