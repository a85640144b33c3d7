package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.NextUse;
import io.clairfs.cache.plan.request.Need;
import java.util.Arrays;

/** The tables of next use of all nodes, renewed before they end. */
final class NextUses {
    private final Setup setup;
    private final Need need;
    private NextUse[] tables = new NextUse[0];
    private int renewal;

    NextUses(Setup setup) {
        this.setup = setup;
        need = setup.load().need();
    }

    /** Enters this epoch. */
    void enter(int epoch) throws InvalidSpecException {
        if (epoch < renewal) {
            return;
        }
        int[] nodes = new int[setup.nodes()];
        Arrays.setAll(nodes, node -> node);
        tables = NextUse.ofNodes(need, setup.samples(), nodes, epoch);
        int end = tables[0].endEpoch();
        renewal = end == setup.scenario().epochs() ? end : epoch + NextUse.EPOCHS / 2;
    }

    /** See {@link NextUse#after}. */
    int after(int node, int epoch, int sample) {
        return tables[node].after(epoch, sample);
    }
}
