package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.request.PlanRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The node that reads each sample, epoch by epoch, of one job. Of a large dataset only every 64th sample is recorded. */
final class ReaderLog {
    static final short NOBODY = -1;

    private static final int STRIDE = 64;
    /** One read in so many may be a second one on another node. */
    private static final int MOST_SHARED = 50;
    /** Datasets up to this size are recorded in full. */
    private static final int SMALL = 1 << 16;

    private final int stride;
    private final int recorded;
    private final List<short[]> epochs = new ArrayList<>();
    private short[] now = new short[0];
    private long shared;

    private ReaderLog(int samples) {
        stride = samples > SMALL ? STRIDE : 1;
        recorded = Math.ceilDiv(samples, stride);
    }

    /** An empty log; whether it makes sense to fill it, {@link #isOfUse} says. */
    static ReaderLog of(PlanRequest request) {
        return new ReaderLog(request.samples());
    }

    /** Whether the ways of placing that this log compares differ: with several nodes, and one job whose epochs are walked one by one. */
    static boolean isOfUse(PlanRequest request) {
        return request.nodes().size() > 1
                && request.needs().size() == 1
                && !request.needs().getFirst().sameInEveryEpoch();
    }

    /** The next epoch begins. */
    void begin() {
        now = new short[recorded];
        Arrays.fill(now, NOBODY);
        epochs.add(now);
    }

    /** The node reads the sample; of several in one epoch the first counts. */
    void read(int sample, int node) {
        if ((sample & (stride - 1)) != 0) {
            return;
        }
        int place = sample / stride;
        if (now[place] == NOBODY) {
            now[place] = (short) node;
        } else if (now[place] != node) {
            shared++;
        }
    }

    /** Whether samples have one reader in an epoch, but for the few that are read twice to make the ranks even. */
    boolean hasOneReaderEach() {
        return shared * MOST_SHARED <= (long) recorded * epochs.size();
    }

    /** How many samples one recorded sample stands for. */
    int stride() {
        return stride;
    }

    /** How many samples are recorded: those whose numbers are multiples of the stride. */
    int recorded() {
        return recorded;
    }

    int epochs() {
        return epochs.size();
    }

    /** The reader in this epoch of the {@code place}-th recorded sample, or {@link #NOBODY}. */
    int reader(int epoch, int place) {
        return epochs.get(epoch)[place];
    }
}
