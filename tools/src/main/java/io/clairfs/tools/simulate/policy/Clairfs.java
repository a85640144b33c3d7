package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.PlacementPolicy;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Our own policy: the daemon's planner places homes, and the room that they leave is filled by next use.
 *
 * <p>A sample with a home is read from the source once: by the node that needs it first, which sends it to its home, or earlier by the
 * threads that fill its home's classes, in the order of the samples' first use by any node. From then on it comes from its home or from a
 * copy, unless these are slower than the source at the moment. A sample without a home is read from the source each time.
 */
final class Clairfs extends SamplerOrder {
    private static final int HOME_BITS = 16;
    private static final int HOME_MASK = (1 << HOME_BITS) - 1;
    private static final int CLASS_MASK = 0xff;
    private static final int PRESENT = 1 << 30;
    private static final int NOWHERE = -1;

    /** By sample: its home, the class there, and whether it is there yet; or {@link #NOWHERE}. */
    private final int[] home;

    private final Pool[] pools;
    private Copies[] copies = new Copies[0];
    /** By node and step of this epoch: the class that has a copy when it is read, or -1. */
    private byte[][] held = new byte[0][];

    private final int[] step;
    /** Null if every node has room for a copy of every sample. */
    private @Nullable NextUses nextUses;

    private Clairfs(Setup setup) {
        super(setup);
        home = new int[setup.samples()];
        Arrays.fill(home, NOWHERE);
        pools = new Pool[setup.nodes()];
        Arrays.setAll(pools, _ -> new Pool(setup, this::fill));
        step = new int[setup.nodes()];
    }

    static Clairfs create(Setup setup) throws UnsupportedScenarioException {
        Clairfs policy = new Clairfs(setup);
        if (setup.classes() > 0) {
            try {
                policy.plan(Plans.of(setup, PlacementPolicy.CLAIRFS));
            } catch (InvalidSpecException e) {
                throw new UnsupportedScenarioException(String.valueOf(e.getMessage()));
            }
        }
        return policy;
    }

    private void plan(Placement placement) throws InvalidSpecException {
        int[] sizes = setup.load().sizes();
        long[][] left = new long[setup.nodes()][setup.classes()];
        for (long[] each : left) {
            Arrays.setAll(each, setup::capacity);
        }
        for (int sample = 0; sample < home.length; sample++) {
            int node = placement.home(sample);
            if (node != Placement.NONE) {
                int storageClass = placement.storageClass(node, sample);
                home[sample] = storageClass << HOME_BITS | node;
                left[node][storageClass] -= setup.bytesOf(storageClass, sizes[sample]);
            }
        }
        EpochOrder first = setup.load().order(0);
        for (int step = 0; step < setup.load().reads(); step++) {
            for (int node = 0; node < setup.nodes(); node++) {
                int sample = first.sample(node, step);
                if (home[sample] != NOWHERE) {
                    pools[homeNode(sample)].add(homeClass(sample), sample);
                }
            }
        }
        boolean room = false;
        boolean forAll = true;
        for (int node = 0; node < setup.nodes(); node++) {
            room |= placement.roomForCopies(node) > 0;
            forAll &= placement.roomForCopies(node) >= setup.load().bytes();
        }
        if (room && setup.nodes() > 1) {
            nextUses = forAll ? null : new NextUses(setup);
            copies = new Copies[setup.nodes()];
            Arrays.setAll(copies, node -> new Copies(setup, left[node], placement.roomForCopies(node)));
            held = new byte[setup.nodes()][setup.load().reads()];
        }
    }

    private int homeNode(int sample) {
        return home[sample] & HOME_MASK;
    }

    private int homeClass(int sample) {
        return home[sample] >> HOME_BITS & CLASS_MASK;
    }

    private boolean fill(int sample) {
        if ((home[sample] & PRESENT) != 0) {
            return false;
        }
        if (costs.isSourceShared() && costs.toAll(costs.peer(homeClass(sample))) > costs.toAll(costs.source())) {
            return false; // nobody would fetch it from there
        }
        home[sample] |= PRESENT;
        setup.traffic().addSource(1, setup.load().sizes()[sample]);
        return true;
    }

    @Override
    public void advance(int node, double seconds, boolean hungry) {
        pools[node].advance(seconds, hungry);
    }

    @Override
    public AtSource takeAtSource() {
        double sum = 0;
        for (Pool each : pools) {
            sum += each.takeSecondsAtSource();
        }
        return new AtSource(sum, 0, costs.isSourceShared());
    }

    @Override
    public EpochOrder order(int epoch) throws InvalidSpecException {
        EpochOrder order = super.order(epoch);
        if (copies.length > 0) {
            if (nextUses != null) {
                nextUses.enter(epoch);
            }
            NextUses tables = nextUses;
            Arrays.fill(step, 0);
            IntStream.range(0, copies.length)
                    .parallel()
                    .forEach(node -> copies[node].readAll(
                            order, node, epoch, tables, sample -> hasOtherHome(node, sample), held[node]));
        }
        return order;
    }

    private boolean hasOtherHome(int node, int sample) {
        return home[sample] != NOWHERE && homeNode(sample) != node;
    }

    @Override
    public int place(int node, int sample) {
        int place = choose(node, sample);
        if (place == costs.source()) {
            pools[node].giveWay(setup.load().sizes()[sample]);
        }
        return place;
    }

    private int choose(int node, int sample) {
        int copy = copies.length == 0 ? -1 : held[node][step[node]++];
        int its = home[sample];
        if (its == NOWHERE) {
            return costs.source();
        }
        if ((its & PRESENT) == 0) {
            home[sample] |= PRESENT;
            return costs.source();
        }
        boolean home = (its & HOME_MASK) == node;
        int place = home ? costs.local(homeClass(sample)) : costs.peer(homeClass(sample));
        if (copy >= 0 && costs.toAll(costs.local(copy)) <= costs.toAll(place)) {
            place = costs.local(copy);
        }
        return costs.toAll(place) <= costs.toAll(costs.source()) ? place : costs.source();
    }
}
