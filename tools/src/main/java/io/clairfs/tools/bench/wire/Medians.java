package io.clairfs.tools.bench.wire;

import java.util.List;

/** The middle of what was measured. */
final class Medians {
    private Medians() {}

    /** Of at least one value; of an even number the larger of the two in the middle. */
    static double of(List<? extends Number> values) {
        return values.stream().mapToDouble(Number::doubleValue).sorted().toArray()[values.size() / 2];
    }
}
