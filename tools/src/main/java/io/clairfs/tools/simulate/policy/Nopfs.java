package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.PlacementPolicy;
import java.util.Arrays;

/**
 * NoPFS (section 5.1): each node keeps the samples that it uses most itself, the most used in the fastest class. The class's threads fetch them
 * in the order in which the node first uses them. Staging takes each sample from the fastest place.
 *
 * <p>As in the published simulation, the threads of a class fetch all samples that it keeps, even those that staging has just fetched.
 */
final class Nopfs extends SamplerOrder {
    private static final byte ABSENT = -1;

    private final byte[][] held;
    /** The fastest class of any node that keeps the sample. */
    private final byte[] fastest;

    private final Background background;

    private Nopfs(Setup setup) {
        super(setup);
        held = new byte[setup.nodes()][setup.samples()];
        for (byte[] each : held) {
            Arrays.fill(each, ABSENT);
        }
        fastest = new byte[setup.samples()];
        Arrays.fill(fastest, ABSENT);
        background = Background.byClass(setup, this::fill);
    }

    static Nopfs create(Setup setup) throws UnsupportedScenarioException {
        Nopfs policy = new Nopfs(setup);
        if (setup.classes() > 0) {
            Placement placement = Plans.of(setup, PlacementPolicy.NOPFS);
            try {
                policy.list(placement);
            } catch (InvalidSpecException e) {
                throw new UnsupportedScenarioException(String.valueOf(e.getMessage()));
            }
        }
        return policy;
    }

    /** Makes the classes' lists, in the order of each node's first use. */
    private void list(Placement placement) throws InvalidSpecException {
        int[] left = new int[setup.nodes()];
        byte[][] planned = new byte[setup.nodes()][setup.samples()];
        for (int node = 0; node < left.length; node++) {
            for (int sample = 0; sample < planned[node].length; sample++) {
                planned[node][sample] = (byte) placement.storageClass(node, sample);
                left[node] += planned[node][sample] == Placement.NONE ? 0 : 1;
            }
        }
        for (int epoch = 0;
                epoch < setup.scenario().epochs() && Arrays.stream(left).anyMatch(each -> each > 0);
                epoch++) {
            EpochOrder order = setup.load().order(epoch);
            for (int step = 0; step < setup.load().reads(); step++) {
                for (int node = 0; node < left.length; node++) {
                    int sample = order.sample(node, step);
                    if (planned[node][sample] != Placement.NONE) {
                        background.add(node, planned[node][sample], sample);
                        planned[node][sample] = Placement.NONE;
                        left[node]--;
                    }
                }
            }
        }
    }

    private int fill(int node, int storageClass, int sample) {
        int place = place(node, sample);
        held[node][sample] = (byte) storageClass;
        if (fastest[sample] == ABSENT || fastest[sample] > storageClass) {
            fastest[sample] = (byte) storageClass;
        }
        if (place == costs.source()) {
            setup.traffic().addSource(1, setup.load().sizes()[sample]);
        }
        return place;
    }

    @Override
    public void advance(int node, double seconds, boolean hungry) {
        background.advance(node, seconds);
    }

    @Override
    public AtSource takeAtSource() {
        return background.takeAtSource();
    }

    @Override
    public int place(int node, int sample) {
        int best = costs.source();
        int theirs = fastest[sample];
        if (theirs == ABSENT) {
            return best;
        }
        if (costs.fetch(costs.peer(theirs)) < costs.fetch(best)) {
            best = costs.peer(theirs);
        }
        int mine = held[node][sample];
        if (mine != ABSENT && costs.fetch(costs.local(mine)) <= costs.fetch(best)) {
            best = costs.local(mine);
        }
        return best;
    }
}
