package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.AccessStream;
import it.unimi.dsi.fastutil.ints.Int2IntLinkedOpenHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Samples that one training has fetched and another of the same order reads soon: memory keeps them until both have read them, so that the
 * source is read once for both.
 *
 * <p>The room is that of the samples by which the trainings are apart, and a quarter more. A byte of it saves a read for each sample that
 * passes through it, a byte of the plan one for each training and epoch; so there is such a room only where the trainings are less apart
 * than what no tier keeps, and farther than what is staged. When the room is short, the sample that has waited longest goes.
 *
 * <p>Its lock guards what it keeps; that of a job is taken by {@link #isStale} without it. Those of the tiers are taken inside.
 */
public final class BetweenTrainings {
    private static final double SPARE = 1.25;

    /** The most room, as a part of the memory. */
    private static final int MOST_PART = 2;

    private final List<JobRun> trainings;
    private final long roomBytes;
    private final double sampleBytes;

    /** What each training has staged before it. */
    private final long stagedBytes;

    /** The most room that pays. */
    private final long mostBytes;

    /** By file, how many trainings are still to read it; the one that came first is first. */
    private final Int2IntLinkedOpenHashMap reads = new Int2IntLinkedOpenHashMap();

    private final Sizes sizes;
    private long bytes;

    /** The bytes of a file. */
    @FunctionalInterface
    interface Sizes {
        long of(int file);
    }

    private BetweenTrainings(
            List<JobRun> trainings, long roomBytes, double sampleBytes, long stagedBytes, long mostBytes, Sizes sizes) {
        this.trainings = trainings;
        this.roomBytes = roomBytes;
        this.sampleBytes = sampleBytes;
        this.stagedBytes = stagedBytes;
        this.mostBytes = mostBytes;
        this.sizes = sizes;
    }

    /**
     * The room between the first trainings of one order among these jobs.
     *
     * @param memoryBytes the capacity of memory
     * @param keptBytes the capacity of all tiers
     * @return null where no two trainings have the same order
     */
    static @Nullable BetweenTrainings of(List<JobRun> jobs, long memoryBytes, long keptBytes, Sizes sizes) {
        List<JobRun> trainings = ofOneOrder(jobs);
        if (trainings.isEmpty()) {
            return null;
        }
        JobRun first = trainings.getFirst();
        int samples = first.index().size();
        long all = 0;
        for (int sample = 0; sample < samples; sample++) {
            int file = first.index().file(sample);
            all += file == SampleIndex.NO_FILE ? 0 : sizes.of(file);
        }
        double sampleBytes = (double) all / samples;
        int streams = jobs.stream().mapToInt(JobRun::streams).sum();
        long staged = first.stagingBytes() / streams / 2;
        long most = Math.min(all - keptBytes, memoryBytes / MOST_PART);
        BetweenTrainings between = new BetweenTrainings(trainings, 0, sampleBytes, staged, most, sizes);
        long needed = between.neededBytes();
        return new BetweenTrainings(trainings, needed <= most ? needed : 0, sampleBytes, staged, most, sizes);
    }

    private static List<JobRun> ofOneOrder(List<JobRun> jobs) {
        for (JobRun job : jobs) {
            List<JobRun> same = jobs.stream()
                    .filter(other -> other.streams() > 0
                            && !hasEnded(other)
                            && other.spec().hasOrderOf(job.spec()))
                    .toList();
            if (same.size() > 1) {
                return same;
            }
        }
        return List.of();
    }

    private static boolean hasEnded(JobRun job) {
        return job.position() == AccessStream.END;
    }

    /** The bytes by which the trainings are apart, and a quarter more; 0 where what is staged bridges that. */
    private long neededBytes() {
        LongSummaryStatistics read = trainings.stream()
                .filter(training -> !hasEnded(training))
                .mapToLong(BetweenTrainings::samplesRead)
                .summaryStatistics();
        double apart = Math.max(0, read.getMax() - read.getMin()) * sampleBytes;
        return apart <= stagedBytes ? 0 : Math.round(apart * SPARE);
    }

    private static long samplesRead(JobRun training) {
        long position = training.position();
        return position == AccessStream.END
                ? Long.MAX_VALUE
                : (long) AccessStream.epoch(position) * training.usualLength() * training.streams()
                        + (long) AccessStream.step(position) * training.streams();
    }

    /** The room, bytes. */
    long roomBytes() {
        return roomBytes;
    }

    /** Whether a training has ended, or they are so far apart that the room is short, and a larger one would pay. */
    boolean isStale() {
        long needed = neededBytes();
        return trainings.stream().anyMatch(BetweenTrainings::hasEnded)
                || (needed > roomBytes * SPARE && needed <= mostBytes);
    }

    /** Whether another of the trainings is behind this job, which is one of them. */
    boolean isAwaitedBehind(JobRun job) {
        return trainings.contains(job) && trainings.stream().anyMatch(other -> samplesRead(other) < samplesRead(job));
    }

    /** Takes over what was kept between trainings until now. */
    void takeOver(BetweenTrainings before) {
        synchronized (before) {
            before.reads.forEach((file, left) -> {
                if (bytes + sizes.of(file) <= roomBytes) {
                    reads.put(file, left);
                    bytes += sizes.of(file);
                }
            });
        }
    }

    /** Whether the file is kept for a training. */
    synchronized boolean keeps(int file) {
        return reads.containsKey(file);
    }

    /**
     * Takes a file that one of the trainings is about to read. Returns whether memory should keep it.
     *
     * @param gone told the files that make room for it
     */
    synchronized boolean offer(int file, IntConsumer gone) {
        long size = sizes.of(file);
        if (size > roomBytes || reads.putIfAbsent(file, trainings.size()) != 0) {
            return false;
        }
        bytes += size;
        while (bytes > roomBytes) {
            int oldest = reads.firstIntKey();
            forget(oldest);
            gone.accept(oldest);
        }
        return true;
    }

    /** A training has read this file. Returns whether it was the last one that the file was kept for. */
    synchronized boolean read(int file) {
        int left = reads.get(file);
        if (left > 1) {
            reads.put(file, left - 1);
        } else if (left == 1) {
            forget(file);
            return true;
        }
        return false;
    }

    private void forget(int file) {
        reads.remove(file);
        bytes -= sizes.of(file);
    }
}
