package io.clairfs.cache.plan.policy;

import java.util.Arrays;

/** One byte for each node and sample, which stays at 255 when it would overflow, and the first user of each sample. */
final class UseCounts extends UseTable {
    private static final char NOBODY = Character.MAX_VALUE;

    private final byte[] counts;
    private final char[] first;

    UseCounts(int samples, int nodes) {
        super(samples, nodes);
        counts = new byte[samples * nodes];
        first = new char[samples];
        Arrays.fill(first, NOBODY);
    }

    @Override
    boolean count(int sample, int node) {
        int place = sample * nodes() + node;
        if (counts[place] != -1) {
            counts[place]++;
        }
        if (first[sample] != NOBODY) {
            return false;
        }
        first[sample] = (char) node;
        return true;
    }

    @Override
    int uses(int node, int sample) {
        return counts[sample * nodes() + node] & 0xff;
    }

    @Override
    int firstUser(int sample) {
        return first[sample];
    }

    @Override
    long mostUsesPerSample() {
        return 255L * nodes();
    }

    @Override
    void collect(int sample, Users users) {
        int from = sample * nodes();
        for (int node = 0; node < nodes(); node++) {
            int uses = counts[from + node] & 0xff;
            if (uses > 0) {
                users.add(node, uses);
            }
        }
    }
}
