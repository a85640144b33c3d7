package io.clairfs.tools.simulate;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.Placement;
import io.clairfs.cache.plan.PlacementPolicy;
import java.util.Arrays;

/**
 * Our own: homes by the daemon's planner, the room that they leave by next use.
 *
 * <p>A sample with a home is read from the source once: by whoever needs it first, who hands it to its home, or before that by
 * the threads that fill its home's class, which work in the order in which anybody first uses the samples. From then on it
 * comes from its home or from a copy. A sample without a home is read from the source each time.
 */
final class Clairfs extends SamplerOrder {
    private static final int HOME_BITS = 16;
    private static final int HOME_MASK = (1 << HOME_BITS) - 1;
    private static final int CLASS_MASK = 0xff;
    private static final int PRESENT = 1 << 30;
    private static final int NOWHERE = -1;

    /** By sample: its home, the class there, and whether it is there yet; or {@link #NOWHERE}. */
    private final int[] home;

    private final Background background;
    private Copies[] copies = new Copies[0];
    private final NextUses nextUses;
    private int epoch;

    private Clairfs(Setup setup) {
        super(setup);
        home = new int[setup.samples()];
        Arrays.fill(home, NOWHERE);
        background = new Background(setup, (_, _, sample) -> fill(sample));
        nextUses = new NextUses(setup);
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
                left[node][storageClass] -= sizes[sample];
            }
        }
        EpochOrder first = setup.load().order(0);
        for (int step = 0; step < setup.load().reads(); step++) {
            for (int node = 0; node < setup.nodes(); node++) {
                int sample = first.sample(node, step);
                if (home[sample] != NOWHERE) {
                    background.add(homeNode(sample), homeClass(sample), sample);
                }
            }
        }
        boolean room = false;
        for (int node = 0; node < setup.nodes(); node++) {
            room |= placement.roomForCopies(node) > 0;
        }
        if (room && setup.nodes() > 1) {
            copies = new Copies[setup.nodes()];
            Arrays.setAll(copies, node -> new Copies(sizes, left[node], placement.roomForCopies(node)));
        }
    }

    private int homeNode(int sample) {
        return home[sample] & HOME_MASK;
    }

    private int homeClass(int sample) {
        return home[sample] >> HOME_BITS & CLASS_MASK;
    }

    private int fill(int sample) {
        if ((home[sample] & PRESENT) != 0) {
            return -1;
        }
        home[sample] |= PRESENT;
        setup.traffic().addSource(1, setup.load().sizes()[sample]);
        return costs.source();
    }

    @Override
    public void advance(int node, double seconds) {
        background.advance(node, seconds);
    }

    @Override
    public double takeSecondsAtSource() {
        return background.takeSecondsAtSource();
    }

    @Override
    public EpochOrder order(int number) throws InvalidSpecException {
        epoch = number;
        if (copies.length > 0) {
            nextUses.enter(number);
        }
        return super.order(number);
    }

    @Override
    public int place(int node, int sample) {
        int its = home[sample];
        if (its == NOWHERE) {
            return costs.source();
        }
        if ((its & HOME_MASK) == node && (its & PRESENT) != 0) {
            return costs.local(homeClass(sample));
        }
        int place = (its & PRESENT) == 0 ? costs.source() : costs.peer(homeClass(sample));
        home[sample] |= PRESENT;
        return (its & HOME_MASK) == node || copies.length == 0 ? place : fromCopy(node, sample, place);
    }

    /** The node's own copy where that is faster, which is then filed by its next use. */
    private int fromCopy(int node, int sample, int otherwise) {
        Copies mine = copies[node];
        int held = mine.storageClass(sample);
        int due = nextUses.after(node, epoch, sample);
        mine.offer(sample, due, _ -> true, _ -> {});
        return held >= 0 && costs.fetch(costs.local(held)) <= costs.fetch(otherwise) ? costs.local(held) : otherwise;
    }
}
