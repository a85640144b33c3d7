package io.clairfs.cache.follow;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StreamWindow;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the positions of a job's trainers in their streams, from the files that are read.
 *
 * <p>A read belongs to the stream in which its sample is nearest to where the trainer's loaders are. Positions behind them are ticked off.
 * When reads do not follow the prediction for a while, the trainer has to be searched for ({@link #wantsSearch}). Not thread-safe: its job
 * guards it.
 */
final class TrainerFollower {
    private final SampleIndex index;
    private final JobStreams streams;
    private final List<StreamWindow> windows;
    private final StepBalance balance;

    /** Samples per rank and step; 0 if not known. */
    private final int batch;

    /** Steps of an epoch. */
    private final long stepsOfEpoch;

    /** Steps that are skipped in the first epoch. */
    private final long skippedSteps;

    private final int startEpoch;

    private final LongSupplier clockNs;
    private final SyncDetector syncDetector;
    private final EpochDriftDetector driftDetector;

    /** How many reads there were when the trainer was last where the job says. */
    private long readsInSync;

    private final TrainerSearch search;
    private final TrainingTimes times;

    private final int memoryOfOne;

    private final LoaderPositions loaders;
    private final ReadsBeside beside;
    private final NameOrderPasses passes;
    private long readsOfPasses;

    /**
     * A follower of a trainer that has not read anything yet.
     *
     * @param streams of the ranks that read here
     * @param usualLength how many samples a rank reads in an epoch, without those that it skips in the first
     * @param goesOn whether the trainer began before, and has gone on reading since the streams' positions
     * @param clockNs a clock that only runs forward, nanoseconds
     */
    TrainerFollower(
            JobSpec spec,
            SampleIndex index,
            JobStreams streams,
            int usualLength,
            boolean goesOn,
            LongSupplier clockNs) {
        this.index = index;
        this.streams = streams;
        windows = streams.windows();
        this.clockNs = clockNs;
        int ranks = spec.ranks().count();
        balance = new StepBalance(ranks);
        batch = spec.batch();
        stepsOfEpoch = batch == 0 ? 0 : Math.ceilDiv(usualLength, batch);
        skippedSteps = batch == 0
                ? 0
                : stepsOfEpoch - Math.ceilDiv(Math.max(0, usualLength - spec.skippedByTheLoader()), batch);
        startEpoch = spec.startEpoch();
        memoryOfOne = SyncDetector.memoryFor(Math.min(usualLength, index.size()));
        int memory = SyncDetector.memoryOfAll(memoryOfOne, ranks);
        syncDetector = new SyncDetector(ranks, memoryOfOne);
        driftDetector = new EpochDriftDetector(spec, memory, goesOn);
        search = new TrainerSearch(memory);
        times = new TrainingTimes(
                batch * ranks,
                spec.keys().containsKey("workers") ? Math.clamp((long) spec.window() * ranks, 0, Integer.MAX_VALUE) : 0,
                !"0".equals(spec.keys().getOrDefault("workers", "")));
        passes = new NameOrderPasses(index.size());
        loaders = new LoaderPositions(spec, windows, syncDetector, usualLength, memory);
        beside = new ReadsBeside(windows, syncDetector, loaders.reach(), loaders.centres());
    }

    /** Whether anything was read. */
    boolean hasBegun() {
        return search.reads() > 0;
    }

    /** Which steps the ranks were ready for together. */
    StepBalance balance() {
        return balance;
    }

    /** Reads are known by requests from now on, and windows leave tracers: the last reads reach far back. */
    void expectTracers() {
        syncDetector.expectTracers();
        loaders.mayLagBehind(memoryOfOne * StreamWindow.TRACER_EVERY / 2);
    }

    /** Whether reads follow the prediction, in the epoch that the job says. */
    boolean isInSync() {
        return syncDetector.inSync() && driftDetector.astray() == null && !passes.areTheTrainers();
    }

    /** Reads that did not follow the prediction. */
    long deviations() {
        return syncDetector.deviations() + driftDetector.readsAstray() + readsOfPasses;
    }

    /** Set while the trainer is followed through an epoch that is not the one the job says. */
    JobProgress.@Nullable Astray astray() {
        return driftDetector.astray();
    }

    /** Whether nearly all reads were in name order for more than an epoch. */
    boolean isInNameOrder() {
        return passes.mayBeTheTrainers();
    }

    /**
     * A reader has read this file. Returns whether its sample was expected about now.
     */
    boolean read(int file) throws InvalidSpecException {
        int sample = index.sampleOf(file);
        if (sample < 0 || windows.isEmpty()) {
            return false;
        }
        int best = -1;
        StreamWindow.Slot slot = null;
        for (int i = 0; i < windows.size(); i++) {
            StreamWindow.Slot candidate = loaders.next(i, file);
            if (candidate != null && (slot == null || loaders.isLikelier(i, candidate, best, slot))) {
                best = i;
                slot = candidate;
            }
        }
        NameOrderPasses.Read read = slot == null
                ? new NameOrderPasses.Read(sample, file, -1, 0, 0)
                : new NameOrderPasses.Read(sample, file, best, slot.sequence, slot.sequence - loaders.centre(best));
        if (passes.isOfPass(read)) {
            passedOver(read);
            return false;
        }
        boolean isFirst = false;
        if (slot != null && loaders.isNear(best, slot) && windows.get(best).read(slot.sequence)) {
            isFirst = true;
            read.tick();
            beside.tickOff(best, slot.sequence);
        }
        if (passes.isSuspect(read)) {
            search.readSuspect(sample);
            if (slot != null && isFirst && times.readSuspect(AccessStream.epoch(slot.position))) {
                read.count();
            }
            return slot != null;
        }
        search.read(sample, syncDetector.inSync());
        if (syncDetector.inSync()) {
            readsInSync = search.reads();
        }
        if (slot == null) {
            syncDetector.readElsewhere();
            return false;
        }
        syncDetector.readAt(best, slot.sequence);
        long nowNs = clockNs.getAsLong();
        if (isFirst) {
            streams.get(best).pace().read(nowNs, windows.get(best).readyAhead(1) == 0);
            times.read(AccessStream.epoch(slot.position), nowNs);
            read.count();
        }
        loaders.follow(best);
        countSteps(best, nowNs);
        driftDetector.read(AccessStream.epoch(slot.position), syncDetector.inSync());
        return true;
    }

    /** A batch is complete when all its positions are behind the first unread one. */
    private void countSteps(int stream, long nowNs) {
        long position = windows.get(stream).position();
        if (batch > 0 && position != AccessStream.END) {
            int epoch = AccessStream.epoch(position);
            long before = epoch * stepsOfEpoch + (epoch == startEpoch ? skippedSteps : 0);
            balance.ready(stream, before + AccessStream.step(position) / batch, nowNs);
        }
    }

    /** The trainer of another job has closed this file, and perhaps this job's, too. */
    void readBeside(int file) {
        for (int i = 0; i < windows.size(); i++) {
            StreamWindow.Slot slot = loaders.nearest(i, file);
            if (slot != null && loaders.isUnreadAndNear(i, slot)) {
                beside.closed(file, i, slot.sequence, loaders.fromLastReads(i, slot));
            }
        }
    }

    /** A reader asks for the whole of this file, for it was not staged. */
    void asked(int file, IntPredicate isInMemory) {
        for (int i = 0; i < windows.size() && syncDetector.inSync(); i++) {
            StreamWindow.Slot slot = loaders.nearest(i, file);
            if (slot != null && loaders.isNear(i, slot)) {
                windows.get(i).asked(slot.sequence, isInMemory);
            }
        }
    }

    /** How long the epochs took, and the waits. */
    TrainingTimes times() {
        return times;
    }

    /**
     * A reader has waited for an answer about this file. It counts if a trainer's loaders may be there; while those are searched for, each does.
     *
     * @param isFollowedByRequests whether the first request for a file counts as its close, so that the trainer is already behind it
     */
    void waited(int file, long startNs, long endNs, boolean isFollowedByRequests) {
        if (index.sampleOf(file) < 0 || windows.isEmpty()) {
            return;
        }
        long least = JobRun.NOT_EXPECTED;
        long position = windows.getFirst().position();
        boolean counts = isFollowedByRequests || !syncDetector.inSync();
        for (int i = 0; i < windows.size(); i++) {
            StreamWindow.Slot slot = loaders.next(i, file);
            if (slot != null && loaders.isNear(i, slot) && loaders.fromLastReads(i, slot) < least) {
                least = loaders.fromLastReads(i, slot);
                position = slot.position;
                counts = true;
            }
        }
        if (counts && position != AccessStream.END) {
            times.waited(AccessStream.epoch(position), startNs, endNs);
        }
    }

    /** A read of a pass is no use of a sample; nor were those before it that looked like the trainer's. */
    private void passedOver(NameOrderPasses.Read read) {
        readsOfPasses++;
        for (NameOrderPasses.Read before = read.before(); before != null; before = before.before()) {
            boolean isTrainers = before.isFirst()
                    && before.stream >= 0
                    && syncDetector.lastReads(before.stream).hasNeighbour(before.sequence);
            if (before.isToBeUndone() && !isTrainers) {
                long position = windows.get(before.stream).unread(before.sequence);
                if (position != AccessStream.END && before.isCounted()) {
                    times.unread(AccessStream.epoch(position));
                }
            }
        }
    }

    /** As {@link LoaderPositions#distance}. */
    long distance(int file) {
        return loaders.distance(file);
    }

    /** Reports of reads were lost. */
    void reportsLost() {
        syncDetector.reset();
        driftDetector.reportsLost();
        for (int stream = 0; stream < windows.size(); stream++) {
            balance.lost(stream);
        }
        search.postpone();
    }

    /** Whether to begin a search for the trainer; the caller ends it with {@link #searchEnded}. */
    boolean wantsSearch() {
        return !syncDetector.inSync() && search.begin();
    }

    /** Whether to search now, though it may not be due. As {@link #wantsSearch} otherwise. */
    boolean wantsSearchNow() {
        return !syncDetector.inSync() && search.beginNow();
    }

    /**
     * Whether the trainer does not follow the job: it is not {@link #isInSync}, and not just because it was lost sight of a moment ago and is
     * still to be searched for.
     */
    boolean isLost() {
        return !isInSync() && (syncDetector.inSync() || search.hasFailed());
    }

    /** Whether a search is under way; may be called without the job's lock. */
    boolean isSearchedFor() {
        return search.isUnderWay();
    }

    /** The last samples that were read, to search by. */
    int[] lastRead() {
        return search.lastRead();
    }

    /** Takes the outcome of a search. */
    void searched(boolean found) {
        search.judge(found);
        driftDetector.searched();
    }

    /** Ends a search, with any outcome; may be called without the job's lock. */
    void searchEnded() {
        search.ended();
    }

    /**
     * The trainer of a stream was found: its window goes on from there.
     *
     * @param order of the epoch in which it was found
     */
    void moveTo(int stream, PositionSearch.Found place, EpochOrder order) throws InvalidSpecException {
        StreamWindow window = windows.get(stream);
        int rank = window.stream().rank();
        long readsSince = Math.max(0, search.readsSearched() - readsInSync) / windows.size();
        driftDetector.found(
                window.position(),
                place.position(),
                readsSince,
                order.length(rank),
                search.readsSearched(),
                place.read().length);
        balance.lost(stream);
        if (!driftDetector.isUnknown() && goesBack(window.position(), place.position())) {
            times.wentBackTo(AccessStream.epoch(place.position()));
        }
        window.jump(place.position());
        long last = window.headSequence();
        for (long position : place.read()) {
            int file = index.file(order.sample(rank, AccessStream.step(position)));
            StreamWindow.Slot slot = window.nearest(file, window.headSequence());
            if (slot != null && slot.position == position) {
                last = slot.sequence;
                window.read(last);
            }
        }
        for (int sample : search.suspects()) {
            StreamWindow.Slot slot = window.nearest(index.file(sample), last);
            if (slot != null && slot.sequence < last) {
                window.read(slot.sequence);
            }
        }
        tickOffMeanwhile(stream, last);
        loaders.moveTo(stream, window.headSequence());
        beside.moved(stream, window.headSequence());
        syncDetector.reset();
    }

    /** Whether a trainer has begun an epoch again, or an earlier one. */
    private boolean goesBack(long from, long to) {
        return from == AccessStream.END
                || AccessStream.epoch(to) < AccessStream.epoch(from)
                || (AccessStream.epoch(to) == AccessStream.epoch(from)
                        && AccessStream.step(from) - AccessStream.step(to) > loaders.reach() + search.memory());
    }

    /** Ticks off what the trainer read from {@code last} on during the search, which was not in the window yet. */
    private void tickOffMeanwhile(int stream, long last) throws InvalidSpecException {
        StreamWindow window = windows.get(stream);
        long foremost = last;
        for (int sample : search.readMeanwhile()) {
            StreamWindow.Slot slot = window.nearest(index.file(sample), foremost);
            if (slot != null && Math.abs(slot.sequence - foremost) <= loaders.reach() + search.memory()) {
                foremost = Math.max(foremost, slot.sequence);
                window.read(slot.sequence);
            }
        }
    }
}
