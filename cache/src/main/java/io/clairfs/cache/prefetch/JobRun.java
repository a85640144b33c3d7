package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One job under way: the streams of its ranks on this node, and where its trainer is in them.
 *
 * <p>{@link #read} ticks off what the trainer read. When its reads do not follow the prediction for a while, the last of them
 * are looked for in the orders of all epochs ({@link #search}), and the streams go on from where they were found.
 */
public final class JobRun {
    private static final int EPOCHS_SEARCHED = 400;
    private static final long SEARCH_TIME_NS = 10_000_000_000L;

    private final JobSpec spec;
    private final SampleIndex index;
    private final EpochOrders orders;
    private final List<StreamWindow> windows = new ArrayList<>();
    private final FillCursor[] fills;
    private final SyncJudge judge;
    private final int[] lastRead;
    private long reads;
    private long searchAtRead;
    private long searchPause;
    private final AtomicBoolean searching = new AtomicBoolean();

    /** The epoch that the trainer reads again instead of the next one, or -1. */
    private int repeated = -1;

    JobRun(JobSpec spec, SampleIndex index, DatasetTree tree, StagingBuffer staging) throws InvalidSpecException {
        this.spec = spec;
        this.index = index;
        orders = new EpochOrders(spec.sampler(index.size()));
        long start = AccessStream.position(spec.startEpoch(), Math.multiplyExact(spec.startStep(), spec.batch()));
        int ranks = spec.lastRank() - spec.firstRank() + 1;
        fills = new FillCursor[ranks];
        for (int rank = spec.firstRank(); rank <= spec.lastRank(); rank++) {
            AccessStream stream = new AccessStream(orders, rank, spec.epochs());
            fills[windows.size()] = new FillCursor(stream, index, start);
            windows.add(new StreamWindow(stream, index, tree, staging, start));
        }
        int memory = SyncJudge.memoryFor(orders.epoch(spec.startEpoch()).length(spec.firstRank()), ranks);
        judge = new SyncJudge(memory);
        lastRead = new int[memory];
        searchPause = memory;
        searchAtRead = memory;
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

    /**
     * The next position to stage over all streams: that of the stream with the least before it.
     *
     * @param shareBytes what each stream may have staged and unread
     */
    synchronized StreamWindow.@Nullable ToStage nextToStage(long shareBytes, List<StagingArea.Staged> drops)
            throws InvalidSpecException {
        StreamWindow.ToStage next = null;
        boolean[] full = new boolean[windows.size()];
        for (int tries = 0; tries < full.length && next == null; tries++) {
            int least = -1;
            for (int i = 0; i < full.length; i++) {
                if (!full[i]
                        && (least < 0
                                || windows.get(i).stagedUnread()
                                        < windows.get(least).stagedUnread())) {
                    least = i;
                }
            }
            next = windows.get(least).nextToStage(shareBytes, drops);
            full[least] = true;
        }
        return next;
    }

    int streams() {
        return windows.size();
    }

    /** The next file that the memory tier should hold, in access order over the streams in turn, or {@link FillCursor#NONE}. */
    int nextToFill() throws InvalidSpecException {
        for (FillCursor fill : fills) {
            int file = fill.next();
            if (file != FillCursor.NONE) {
                return file;
            }
        }
        return FillCursor.NONE;
    }

    /**
     * A reader has read this file. Returns whether its sample was expected about now.
     */
    synchronized boolean read(int file) throws InvalidSpecException {
        int sample = index.sampleOf(file);
        if (sample < 0) {
            return false;
        }
        lastRead[(int) (reads % lastRead.length)] = sample;
        reads++;
        int best = -1;
        StreamWindow.Slot slot = null;
        for (int i = 0; i < windows.size(); i++) {
            StreamWindow.Slot candidate = windows.get(i).find(file);
            if (candidate != null && (slot == null || ahead(i, candidate) < ahead(best, slot))) {
                best = i;
                slot = candidate;
            }
        }
        if (slot == null) {
            judge.readElsewhere();
            return false;
        }
        judge.readAt(best, slot.sequence);
        windows.get(best).read(slot);
        if (repeated >= 0 && AccessStream.epoch(slot.position) != repeated && judge.inSync()) {
            repeated = -1;
        }
        return true;
    }

    /** Reads of files are not reported as they are closed; some positions are then left unstaged to be asked for. */
    synchronized void followByRequests() {
        windows.forEach(StreamWindow::leaveTracers);
    }

    /** A reader had to ask for this file: it is read, and with it all that its loaders cannot still have before them. */
    synchronized void reached(int file) throws InvalidSpecException {
        for (StreamWindow window : windows) {
            StreamWindow.Slot slot = window.find(file);
            if (slot != null) {
                window.readUpTo(slot.sequence - Math.max(1, spec.window()));
                break;
            }
        }
        read(file);
    }

    /** Reports of reads were lost: whatever is staged may have been read. */
    synchronized void reportsLost() throws InvalidSpecException {
        for (StreamWindow window : windows) {
            window.readUpTo(window.stagedUpTo() - 1);
        }
        judge.reset();
        searchAtRead = reads + lastRead.length;
    }

    private long ahead(int window, StreamWindow.Slot slot) {
        return slot.sequence - windows.get(window).headSequence();
    }

    /** Whether the trainer should be looked for; the caller then runs {@link #search} where it may take a while. */
    synchronized boolean wantsSearch() {
        return !judge.inSync() && reads >= searchAtRead && searching.compareAndSet(false, true);
    }

    /** Looks for the trainer in the orders of all epochs, nearest first, and moves the streams to where it is. */
    void search() throws InvalidSpecException {
        try {
            int[] samples;
            int epoch;
            synchronized (this) {
                int count = (int) Math.min(reads, lastRead.length);
                samples = new int[count];
                for (int i = 0; i < count; i++) {
                    samples[i] = lastRead[(int) ((reads - 1 - i) % lastRead.length)];
                }
                long position = windows.getFirst().position();
                epoch = position == AccessStream.END ? spec.epochs() - 1 : AccessStream.epoch(position);
            }
            boolean found = false;
            long deadline = System.nanoTime() + SEARCH_TIME_NS;
            for (int distance = 0; distance < 2 * EPOCHS_SEARCHED && !found; distance++) {
                int candidate = epoch + (distance % 2 == 0 ? -distance / 2 : (distance + 1) / 2);
                if (candidate >= 0 && candidate < spec.epochs()) {
                    found = searchEpoch(candidate, samples);
                }
                if (System.nanoTime() > deadline) {
                    break;
                }
            }
            synchronized (this) {
                searchPause = found ? lastRead.length : Math.min(searchPause * 2, 1 << 16);
                searchAtRead = reads + searchPause;
            }
        } finally {
            searching.set(false);
        }
    }

    private boolean searchEpoch(int epoch, int[] samples) throws InvalidSpecException {
        boolean found = false;
        for (int i = 0; i < windows.size(); i++) {
            StreamWindow window = windows.get(i);
            PositionSearch.Found place = PositionSearch.inEpoch(window.stream(), orders.peek(epoch), epoch, samples);
            if (place != null) {
                found = true;
                moveTo(window, epoch, place, i);
            }
        }
        return found;
    }

    private synchronized void moveTo(StreamWindow window, int epoch, PositionSearch.Found place, int stream)
            throws InvalidSpecException {
        long before = window.position();
        boolean again = before != AccessStream.END
                && epoch == AccessStream.epoch(before) - 1
                && AccessStream.step(before) < window.stream().length(epoch) / 2;
        window.jump(place.position());
        for (long position : place.read()) {
            StreamWindow.Slot slot = window.find(index.file(window.stream().sample(position)));
            if (slot != null && slot.position == position) {
                window.read(slot);
            }
        }
        fills[stream].jump(place.position());
        judge.reset();
        repeated = again ? epoch : -1;
    }

    /**
     * Where a job is, for people.
     *
     * @param epoch the epoch that the first rank is in; the number of epochs when all is read
     * @param position how many samples of that epoch the first rank has read
     * @param length how many samples the first rank reads in it
     * @param deviations reads of this dataset that did not follow the prediction
     * @param repeatedEpoch the epoch that the trainer reads again instead of the next one, or -1
     * @param stagedAhead samples staged and unread, over all ranks
     */
    public record Progress(
            int epoch,
            int position,
            int length,
            boolean done,
            boolean inSync,
            long deviations,
            int repeatedEpoch,
            int stagedAhead) {}

    public synchronized Progress progress() throws InvalidSpecException {
        StreamWindow first = windows.getFirst();
        long position = first.position();
        boolean done = position == AccessStream.END;
        int epoch = done ? spec.epochs() : AccessStream.epoch(position);
        int staged = windows.stream().mapToInt(StreamWindow::stagedUnread).sum();
        return new Progress(
                epoch,
                done ? 0 : AccessStream.step(position),
                first.stream().length(done ? spec.epochs() - 1 : epoch),
                done,
                judge.inSync() && repeated < 0,
                judge.deviations(),
                repeated,
                staged);
    }

    /** Lets go of everything that is staged for this job. */
    synchronized void close() {
        windows.forEach(StreamWindow::close);
    }
}
