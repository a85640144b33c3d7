package io.clairfs.tools.bench.wire;

import java.util.List;

/** The median of measured values. */
final class Medians {
    private Medians() {}

    /** The median of at least one value. Of an even number of values it is the larger of the two in the middle. */
    static double of(List<? extends Number> values) {
        return values.stream().mapToDouble(Number::doubleValue).sorted().toArray()[values.size() / 2];
    }
}
