package io.clairfs.tools.simulate.policy;

import io.clairfs.tools.simulate.scenario.Scenario;
import java.util.List;

/** The amounts fetched from each place, and the seconds of these fetches. */
public final class SimulatedTraffic {
    public static final int MEMORY = 0;
    public static final int SSD = 1;
    public static final int PEER = 2;
    public static final int SOURCE = 3;
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

    public void add(int place, long samples, long size, double threadSeconds) {
        int kind = kindOfPlace[place];
        count[kind] += samples;
        bytes[kind] += size;
        seconds[kind] += threadSeconds;
    }

    void addSource(long samples, long size) {
        count[SOURCE] += samples;
        bytes[SOURCE] += size;
    }

    public long count(int kind) {
        return count[kind];
    }

    public long bytes(int kind) {
        return bytes[kind];
    }

    public double seconds(int kind) {
        return seconds[kind];
    }
}
