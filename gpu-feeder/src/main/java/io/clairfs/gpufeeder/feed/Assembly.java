package io.clairfs.gpufeeder.feed;

import org.jspecify.annotations.Nullable;

/** A batch that threads fill: each takes a sample of it at a time. Guarded by the lock of its {@link BatchQueue}. */
final class Assembly {
    final int slot;
    final long turn;
    final int epoch;
    final int step;

    private final int[] order;
    private final int first;
    private int count;
    private int taken;
    private int unfinished;
    private @Nullable String failure;
    private int failedAt = Integer.MAX_VALUE;

    /** The batch of {@code count} samples of {@code order} from {@code first} on. */
    Assembly(int slot, long turn, int epoch, int step, int[] order, int first, int count) {
        this.slot = slot;
        this.turn = turn;
        this.epoch = epoch;
        this.step = step;
        this.order = order;
        this.first = first;
        this.count = count;
        unfinished = count;
    }

    int count() {
        return count;
    }

    boolean hasMore() {
        return taken < count;
    }

    /** The place of the next sample, which the caller loads. */
    int take() {
        return taken++;
    }

    /** The number of the sample at a place. */
    int sample(int at) {
        return order[first + at];
    }

    /** The sample at this place is loaded, or failed for a reason. Of several reasons the first sample's is kept. */
    void finish(int at, @Nullable String reason) {
        unfinished--;
        if (reason != null && at < failedAt) {
            failedAt = at;
            failure = reason;
        }
    }

    /** Nobody wants it any more: what was not taken stays so. */
    void abandon() {
        unfinished -= count - taken;
        count = taken;
    }

    boolean isFinished() {
        return unfinished == 0;
    }

    @Nullable
    String failure() {
        return failure;
    }
}
