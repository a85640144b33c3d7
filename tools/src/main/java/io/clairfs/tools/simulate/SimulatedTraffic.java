package io.clairfs.tools.simulate;

import java.util.List;

/** What was fetched from where, and how long that took. */
final class SimulatedTraffic {
    static final int MEMORY = 0;
    static final int SSD = 1;
    static final int PEER = 2;
    static final int SOURCE = 3;
    static final int KINDS = 4;

    private final int[] kindOfPlace;
    private final long[] count = new long[KINDS];
    private final long[] bytes = new long[KINDS];
    private final double[] seconds = new double[KINDS];

    SimulatedTraffic(List<Scenario.Device> classes) {
        kindOfPlace = new int[2 * classes.size() + 1];
        for (int j = 0; j < classes.size(); j++) {
            kindOfPlace[j] = classes.get(j).isMemory() ? MEMORY : SSD;
            kindOfPlace[classes.size() + j] = PEER;
        }
        kindOfPlace[2 * classes.size()] = SOURCE;
    }

    void add(int place, long samples, long size, double threadSeconds) {
        int kind = kindOfPlace[place];
        count[kind] += samples;
        bytes[kind] += size;
        seconds[kind] += threadSeconds;
    }

    void addSource(long samples, long size) {
        count[SOURCE] += samples;
        bytes[SOURCE] += size;
    }

    long count(int kind) {
        return count[kind];
    }

    long bytes(int kind) {
        return bytes[kind];
    }

    double seconds(int kind) {
        return seconds[kind];
    }
}
