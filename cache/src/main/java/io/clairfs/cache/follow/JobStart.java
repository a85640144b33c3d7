package io.clairfs.cache.follow;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Where the ranks of a job begin on this node: at the job's beginning, where they were when another process ended, or in the first epoch whose
 * order file is still there. It never changes.
 */
final class JobStart {
    /** Most epochs whose order files may be gone where a job begins in its middle. */
    private static final int MOST_GONE = 400;

    private final JobSpec spec;
    private final EpochOrders orders;
    private final long[] positions;
    private final boolean isInItsMiddle;
    private final int usualLength;
    private final long position;

    /**
     * Looks for the order of the first epoch, unless positions are given.
     *
     * @param positions of the ranks that read here, as {@link JobRun#positions} told; empty for the beginning
     */
    JobStart(JobSpec spec, SampleIndex index, EpochOrders orders, long[] positions) throws InvalidSpecException {
        this.spec = spec;
        this.orders = orders;
        this.positions = positions.clone();
        isInItsMiddle = positions.length > 0 || isFirstOrderGone();
        int begin = isInItsMiddle && positions.length == 0 ? firstEpochThere() : spec.startEpoch();
        usualLength = usualLength(begin, index.size());
        position = begin == spec.startEpoch()
                ? AccessStream.position(begin, Math.multiplyExact(spec.startStep(), spec.batch()))
                : AccessStream.position(begin, 0);
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
    private int usualLength(int begin, int samples) throws InvalidSpecException {
        long at = Arrays.stream(positions).min().orElse(AccessStream.END);
        int epoch = at == AccessStream.END ? begin : Math.max(begin, AccessStream.epoch(at));
        int length = 0;
        try {
            long skipped = epoch == spec.startEpoch() ? spec.skippedByTheLoader() : 0;
            length = Math.clamp(orders.epoch(epoch).length(spec.firstRank()) + skipped, 0, Integer.MAX_VALUE);
        } catch (OrderNotReadyException e) {
            // the streams wait for it
        }
        return length == 0 ? Math.ceilDiv(samples, spec.world()) : length;
    }

    /** Whether the trainers may have read before. */
    boolean isInItsMiddle() {
        return isInItsMiddle;
    }

    /** How many samples a rank reads in an epoch. */
    int usualLength() {
        return usualLength;
    }

    /** The position where the job begins. */
    long position() {
        return position;
    }

    /** The position where a stream begins. */
    long positionOf(int stream) {
        return stream < positions.length ? Math.max(position, positions[stream]) : position;
    }
}
