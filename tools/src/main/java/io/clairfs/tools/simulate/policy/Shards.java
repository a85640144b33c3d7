package io.clairfs.tools.simulate.policy;

import java.util.Arrays;

/**
 * The dataset dealt round-robin to the nodes; each keeps the part of its share that fits into some of its classes. It is loaded before the first
 * epoch, all nodes and classes at once.
 */
public final class Shards {
    /** No class. */
    static final byte ABSENT = -1;

    private final Setup setup;
    private final byte[] classOf;
    private final long[][] bytes;
    private final long[][] count;

    /** Fills the classes from {@code firstClass} to before {@code endClass}. */
    public Shards(Setup setup, int firstClass, int endClass) {
        this.setup = setup;
        int[] sizes = setup.load().sizes();
        int nodes = setup.nodes();
        classOf = new byte[sizes.length];
        Arrays.fill(classOf, ABSENT);
        bytes = new long[nodes][setup.classes()];
        count = new long[nodes][setup.classes()];
        for (int sample = 0; sample < sizes.length; sample++) {
            long[] mine = bytes[sample % nodes];
            for (int j = firstClass; j < endClass; j++) {
                if (mine[j] + sizes[sample] <= setup.capacity(j)) {
                    mine[j] += sizes[sample];
                    count[sample % nodes][j]++;
                    classOf[sample] = (byte) j;
                    break;
                }
            }
        }
    }

    /** Makes shards in memory only. */
    static Shards inMemory(Setup setup) throws UnsupportedScenarioException {
        int memory = setup.scenario().memoryClass();
        if (memory < 0) {
            throw new UnsupportedScenarioException("keeps samples in memory, and no class is called memory");
        }
        return new Shards(setup, memory, memory + 1);
    }

    /** Reads everything from the source. Returns the seconds it takes. */
    double load() {
        Costs costs = setup.costs();
        double slowest = 0;
        int loaders = 0;
        for (int j = 0; j < setup.classes(); j++) {
            int each = j;
            loaders += Arrays.stream(bytes).anyMatch(of -> of[each] > 0) ? setup.threads(j) : 0;
        }
        for (int node = 0; node < bytes.length; node++) {
            for (int j = 0; j < setup.classes(); j++) {
                slowest = Math.max(slowest, bytes[node][j] * costs.load(j, loaders));
                setup.traffic().addSource(count[node][j], bytes[node][j]);
            }
        }
        return slowest;
    }

    /** The node whose share has the sample. */
    int node(int sample) {
        return sample % bytes.length;
    }

    /** The class that keeps it there, or {@link #ABSENT}. */
    byte storageClass(int sample) {
        return classOf[sample];
    }

    boolean areComplete() {
        for (byte each : classOf) {
            if (each == ABSENT) {
                return false;
            }
        }
        return true;
    }

    /** The samples that the node keeps, ascending. */
    int[] of(int node) {
        int[] kept = new int[classOf.length / bytes.length + 1];
        int length = 0;
        for (int sample = node; sample < classOf.length; sample += bytes.length) {
            if (classOf[sample] != ABSENT) {
                kept[length++] = sample;
            }
        }
        return Arrays.copyOf(kept, length);
    }

    /** The place from which the node stages the sample. */
    int place(int node, int sample) {
        Costs costs = setup.costs();
        if (classOf[sample] == ABSENT) {
            return costs.source();
        }
        return node(sample) == node ? costs.local(classOf[sample]) : costs.peer(classOf[sample]);
    }
}
