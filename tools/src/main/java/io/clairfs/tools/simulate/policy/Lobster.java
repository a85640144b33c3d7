package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.NextUse;
import java.util.Arrays;

/**
 * Lobster's caches (section 4.4): a node keeps the samples that it reads by next use; a sample that is not used again is evicted, and the
 * last copy of all nodes stays. Lobster's assignment of loader threads to the GPUs of a node plays no part here, with one rank per node.
 */
final class Lobster extends SamplerOrder {
    private final NextUses nextUses;
    private final Copies[] caches;
    private final short[] holders;
    /** By sample, the class in which it was kept last: an estimate for all its copies that is right for nearly all samples. */
    private final byte[] lastClass;

    private int epoch;

    private Lobster(Setup setup) {
        super(setup);
        nextUses = new NextUses(setup);
        caches = new Copies[setup.nodes()];
        long[] left = new long[setup.classes()];
        Arrays.setAll(left, setup::capacity);
        Arrays.setAll(caches, _ -> new Copies(setup, left, setup.capacityOfNode()));
        holders = new short[setup.samples()];
        lastClass = new byte[setup.samples()];
    }

    static Lobster create(Setup setup) {
        return new Lobster(setup);
    }

    @Override
    public EpochOrder order(int number) throws InvalidSpecException {
        epoch = number;
        nextUses.enter(number);
        return super.order(number);
    }

    @Override
    public int place(int node, int sample) {
        Copies mine = caches[node];
        int held = mine.storageClass(sample);
        int place =
                held >= 0 ? costs.local(held) : holders[sample] > 0 ? costs.peer(lastClass[sample]) : costs.source();
        if (setup.classes() > 0) {
            keep(mine, node, sample, held >= 0);
        }
        return place;
    }

    private void keep(Copies mine, int node, int sample, boolean held) {
        int due = nextUses.after(node, epoch, sample);
        if (due == NextUse.NEVER && holders[sample] == (held ? 1 : 0)) {
            due = setup.scenario().epochs(); // no other node has it
        }
        if (mine.offer(sample, due, copy -> holders[copy] > 1, copy -> holders[copy]--) && !held) {
            holders[sample]++;
            lastClass[sample] = (byte) mine.storageClass(sample);
        }
    }
}
