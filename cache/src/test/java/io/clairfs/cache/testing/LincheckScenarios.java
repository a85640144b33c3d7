package io.clairfs.cache.testing;

import org.jetbrains.lincheck.datastructures.Options;

/** How many random scenarios of concurrent calls are tried: a few at every {@code ./verify}, more with {@code --all}, many more when asked for. */
public final class LincheckScenarios {
    private static final int FACTOR = Integer.getInteger("clairfs.lincheck.factor", 1);

    private static final long HUNG_MS = 300_000;

    private LincheckScenarios() {}

    /** A part of {@code few}, or all, as {@link FurtherCases} says; or as many times more as {@code -Dclairfs.lincheck.factor} says. */
    public static int times(int few) {
        return FACTOR == 1 ? FurtherCases.of(few) : Math.multiplyExact(few, FACTOR);
    }

    /**
     * These options, where a scenario counts as hung only after minutes: one takes half a minute where many tests share two processors.
     */
    public static <O extends Options<O, ?>> O patient(O options) {
        return options.invocationTimeout$lincheck(HUNG_MS);
    }
}
