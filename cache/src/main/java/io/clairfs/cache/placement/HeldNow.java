package io.clairfs.cache.placement;

import io.clairfs.cache.plan.request.Held;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What this node holds, as of the first question, for a plan of its own. The question comes as late as can be: tiers fill while a plan is
 * made, and samples that the plan did not know of would be evicted again. Used by one thread.
 */
final class HeldNow implements Held {
    private final int files;
    private final ResidentSamples residents;

    /** By file, its tier; fixed by the first question. */
    private byte @Nullable [] tiers;

    HeldNow(int files, ResidentSamples residents) {
        this.files = files;
        this.residents = residents;
    }

    @Override
    public int classOf(int node, int sample) {
        return tiers()[sample];
    }

    private byte[] tiers() {
        byte[] now = tiers;
        if (now == null) {
            now = new byte[files];
            for (int file = 0; file < files; file++) {
                now[file] = (byte) residents.tierOf(file);
            }
            tiers = now;
        }
        return now;
    }

    /** Whether a sample has come since then that is not kept. */
    boolean hasGrownBeside(IntPredicate isKept) {
        byte[] then = tiers();
        for (int file = 0; file < files; file++) {
            if (then[file] == NOT_HELD && residents.isHere(file) && !isKept.test(file)) {
                return true;
            }
        }
        return false;
    }
}
