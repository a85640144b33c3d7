package io.clairfs.cache.prefetch;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.follow.RankStream;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow.StagedPosition;
import io.clairfs.cache.status.Counters;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Checks that staged samples are still there, for the kernel takes pages back as it likes, and its caches may be dropped. A lost sample is
 * staged again before the trainer comes.
 *
 * <p>Each look covers the samples that a trainer reads in the next moment, and in turns a few of those behind them; after a loss, many
 * more. While nothing is lost a look tries only some of the next samples: pages go in numbers, when caches are dropped or memory is short,
 * and one lost sample makes the look try all of them. While there are no reads the looks become rare. Used by one thread.
 */
final class StagedSampleChecker {
    private static final long BUSY_PAUSE_MS = 10;

    /** So long after a read somebody may read on. */
    private static final long READING_NS = TimeUnit.SECONDS.toNanos(1);

    /** After a loss, for pages are seldom dropped alone. */
    private static final long PAUSE_AFTER_LOSS_MS = 2;

    /** While nobody reads, staging again so many as one look finds takes longer. */
    private static final long PAUSE_AFTER_LOSS_AT_REST_MS = 250;

    private static final long IDLE_PAUSE_MS = 1_000;

    /** What a trainer reads within six looks. */
    private static final double NEAR_S = 0.06;

    private static final int FEWEST_NEAR = 16;
    private static final int MOST_NEAR = 128;

    /** So long after a loss each look tries all of the next samples. */
    private static final long WARY_NS = TimeUnit.SECONDS.toNanos(2);

    private static final int FAR = 16;
    private static final int FAR_AFTER_LOSS = 1024;

    private final StagingBuffer staging;
    private final Counters counters;
    private final LongSupplier clockNs;

    /** Where the looks at farther samples have come to, for each rank of each job. */
    private final Map<JobRun, Rank[]> ranks = new HashMap<>();

    private long pauseMs = IDLE_PAUSE_MS;
    private long lastReadNs;

    /** Looks at what is in {@code staging}; the clock is as {@link System#nanoTime}. */
    StagedSampleChecker(StagingBuffer staging, Counters counters, LongSupplier clockNs) {
        this.staging = staging;
        this.counters = counters;
        this.clockNs = clockNs;
        lastReadNs = clockNs.getAsLong() - READING_NS;
    }

    private static final class Rank {
        private long cursor;
        private int far = FAR;
        private long lastLossNs;

        Rank(long nowNs) {
            lastLossNs = nowNs; // wary at first
        }
    }

    /** How long to wait before the next look, milliseconds. */
    long pauseMs() {
        return pauseMs;
    }

    /** Whether there have been neither reads nor losses for a while. */
    boolean isAtRest() {
        return pauseMs == IDLE_PAUSE_MS;
    }

    /**
     * One look at all jobs.
     *
     * @param isRead whether anybody has read since the last one
     * @return whether something has to be staged again
     */
    boolean look(List<JobRun> jobs, boolean isRead) {
        ranks.keySet().retainAll(jobs);
        boolean isLost = false;
        for (JobRun job : jobs) {
            Rank[] ofJob = ranks.computeIfAbsent(job, run -> {
                Rank[] all = new Rank[run.streams()];
                java.util.Arrays.setAll(all, _ -> new Rank(clockNs.getAsLong()));
                return all;
            });
            for (int stream = 0; stream < ofJob.length; stream++) {
                isLost |= look(job.stream(stream), ofJob[stream]);
            }
        }
        long nowNs = clockNs.getAsLong();
        lastReadNs = isRead ? nowNs : lastReadNs;
        if (isLost) {
            pauseMs = nowNs - lastReadNs < READING_NS ? PAUSE_AFTER_LOSS_MS : PAUSE_AFTER_LOSS_AT_REST_MS;
        } else {
            pauseMs = isRead ? BUSY_PAUSE_MS : Math.min(IDLE_PAUSE_MS, 2 * pauseMs);
        }
        return isLost;
    }

    private boolean look(RankStream stream, Rank rank) {
        double sampleS = stream.secondsOf(1);
        int near = sampleS > 0 ? (int) Math.clamp(NEAR_S / sampleS, FEWEST_NEAR, MOST_NEAR) : FEWEST_NEAR;
        List<StagedPosition> next = stream.stagedFrom(0, near);
        boolean isWary = clockNs.getAsLong() - rank.lastLossNs < WARY_NS;
        boolean isLost = stageMissingAgain(stream, isWary ? next : some(next));
        if (isLost && !isWary) {
            stageMissingAgain(stream, next);
        }
        long behind = next.isEmpty() ? 0 : next.getLast().sequence() + 1;
        List<StagedPosition> farther = stream.stagedFrom(Math.max(behind, rank.cursor), rank.far);
        rank.cursor = farther.isEmpty() ? 0 : farther.getLast().sequence() + 1;
        isLost |= stageMissingAgain(stream, farther);
        rank.far = isLost ? FAR_AFTER_LOSS : FAR;
        if (isLost) {
            rank.lastLossNs = clockNs.getAsLong();
        }
        return isLost;
    }

    /** {@value #FEWEST_NEAR} of these, evenly spaced. */
    private static List<StagedPosition> some(List<StagedPosition> next) {
        int step = Math.max(1, next.size() / FEWEST_NEAR);
        List<StagedPosition> chosen = new ArrayList<>(FEWEST_NEAR + 1);
        for (int i = 0; i < next.size(); i += step) {
            chosen.add(next.get(i));
        }
        return chosen;
    }

    private boolean stageMissingAgain(RankStream stream, List<StagedPosition> staged) {
        List<StagedPosition> missing = new ArrayList<>();
        for (StagedPosition position : staged) {
            boolean isNews = staging.isLost(position.place());
            if (isNews) {
                counters.stagedLost.increment();
            }
            if (isNews || staging.isToBeBroughtAgain(position.place())) { // the loader that should bring it may be gone
                missing.add(position);
            }
        }
        if (!missing.isEmpty()) {
            stream.stageAgain(missing);
        }
        return !missing.isEmpty();
    }
}
