package io.clairfs.tools.simulate.policy;

import java.util.Arrays;

/** A growing list of samples. */
final class IntList {
    private int[] values = new int[16];
    private int length;

    void add(int value) {
        if (length == values.length) {
            values = Arrays.copyOf(values, length + (length >> 1));
        }
        values[length++] = value;
    }

    int get(int at) {
        return values[at];
    }

    int length() {
        return length;
    }
}
