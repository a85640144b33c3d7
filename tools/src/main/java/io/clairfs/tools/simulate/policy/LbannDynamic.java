package io.clairfs.tools.simulate.policy;

import java.util.Arrays;

/**
 * The data store of LBANN (Jacobs et al. 2019), filled in the first epoch: the node that reads a sample from the source keeps it in
 * memory; later every node gets it from there.
 */
final class LbannDynamic extends SamplerOrder {
    private static final short NOBODY = -1;

    private final int memory;
    private final short[] owner;
    private final long[] room;

    private LbannDynamic(Setup setup, int memory) {
        super(setup);
        this.memory = memory;
        owner = new short[setup.samples()];
        Arrays.fill(owner, NOBODY);
        room = new long[setup.nodes()];
        Arrays.fill(room, setup.capacity(memory));
    }

    static LbannDynamic create(Setup setup) throws UnsupportedScenarioException {
        return new LbannDynamic(setup, requireMemory(setup));
    }

    /** Returns the class of memory, which must hold all samples. */
    static int requireMemory(Setup setup) throws UnsupportedScenarioException {
        int memory = setup.scenario().memoryClass();
        double room = memory < 0 ? 0 : (double) setup.capacity(memory) * setup.nodes();
        if (setup.load().bytes() > room) {
            throw new UnsupportedScenarioException(String.format(
                    java.util.Locale.ROOT,
                    "the data, %.0f MB, is larger than the memory of all nodes, %.0f MB",
                    setup.load().bytes() / 1e6,
                    room / 1e6));
        }
        return memory;
    }

    @Override
    public int place(int node, int sample) {
        int from = owner[sample];
        if (from == NOBODY) {
            keep(node, sample);
            return costs.source();
        }
        return from == node ? costs.local(memory) : costs.peer(memory);
    }

    /** Keeps the sample on the node that read it, or on the next node with room. */
    private void keep(int node, int sample) {
        int size = setup.load().sizes()[sample];
        for (int i = 0; i < room.length; i++) {
            int candidate = (node + i) % room.length;
            if (room[candidate] >= size) {
                room[candidate] -= size;
                owner[sample] = (short) candidate;
                return;
            }
        }
    }
}
