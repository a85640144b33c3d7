package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of further copies that are worth more, at each node, than the first copy under consideration.
 *
 * <p>A histogram per node over the logarithm of the value density, 64 levels to the octave, made in one pass over the table:
 * the further copies themselves, up to one for each use, are never listed for more than one node at a time.
 */
final class CopyReserve {
    /** For a plan in which no further copy is worth more than any first one. */
    static final CopyReserve NONE = new CopyReserve(null, new long[0][], new long[0], 0);

    private static final int LEVELS = 2048;
    private static final int LEVEL_SHIFT = 17;

    private final @Nullable Counting counting;
    private final long[][] byLevel;
    private final long[] above;
    private final float top;
    private int passed = LEVELS;

    private record Counting(PlanRequest request, UseTable uses, Prices prices) {
        float value(int node, int times, long size) {
            return (float) (times * prices.locality(node, size));
        }

        long size(int sample) {
            return request.sizes().bytes(sample);
        }
    }

    private CopyReserve(@Nullable Counting counting, long[][] byLevel, long[] above, float top) {
        this.counting = counting;
        this.byLevel = byLevel;
        this.above = above;
        this.top = top;
    }

    /** Counts each use at any node as a further copy that it might want; {@code top} is the worth of the best one. */
    static CopyReserve create(PlanRequest request, UseTable uses, Prices prices, float top) {
        int nodes = request.nodes().size();
        Counting counting = new Counting(request, uses, prices);
        CopyReserve reserve = new CopyReserve(counting, new long[nodes][LEVELS], new long[nodes], top);
        UseTable.Users users = new UseTable.Users(uses);
        for (int i = 0; i < uses.used(); i++) {
            int sample = uses.byFirstUse(i);
            reserve.addAll(sample, users.of(sample), 1);
        }
        return reserve;
    }

    private void addAll(int sample, UseTable.Users users, int sign) {
        for (int i = 0; i < users.count(); i++) {
            add(sample, users.node(i), users.uses(i), sign);
        }
    }

    private void add(int sample, int node, int times, int sign) {
        Counting values = Objects.requireNonNull(counting);
        long size = values.size(sample);
        float value = values.value(node, times, size);
        if (value > 0) {
            byLevel[node][level(value)] +=
                    sign * values.request.nodes().get(node).bytesOf(size);
        }
    }

    private int level(float value) {
        int below = (Float.floatToRawIntBits(top) - Float.floatToRawIntBits(value)) >> LEVEL_SHIFT;
        return Math.clamp(LEVELS - 1 - below, 0, LEVELS - 1);
    }

    /** Reserves room for copies worth clearly more than {@code value}; values come descending. */
    void passTo(float value) {
        if (counting == null) {
            return;
        }
        while (passed - 1 > level(value)) {
            passed--;
            for (int node = 0; node < above.length; node++) {
                above[node] += byLevel[node][passed];
            }
        }
    }

    /** Bytes that must stay free at this node. */
    long bytes(int node) {
        return counting == null ? 0 : above[node];
    }

    /** The sample has its home at this node, which wants no further copy of it. */
    void settle(int sample, int node) {
        if (counting != null) {
            add(sample, node, counting.uses().uses(node, sample), -1);
        }
    }

    /** The sample has no home, and so no further copies. */
    void leaveOut(int sample, UseTable.Users users) {
        if (counting != null) {
            addAll(sample, users, -1);
        }
    }
}
