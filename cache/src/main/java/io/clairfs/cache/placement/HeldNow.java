package io.clairfs.cache.placement;

import io.clairfs.cache.plan.request.Held;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What this node holds when it is first asked, for a plan of its own. That is as late as can be: tiers fill while a plan is made, and what came meanwhile
 * would be evicted again if the plan did not know of it. One thread calls.
 */
final class HeldNow implements Held {
    private final int files;
    private final ResidentSamples residents;

    /** By file, its tier; once it was asked for, it does not change. */
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

    /** Whether something has come since then that is not to be kept. */
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
