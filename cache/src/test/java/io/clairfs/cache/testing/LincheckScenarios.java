package io.clairfs.cache.testing;

/** How many random scenarios of concurrent calls are tried: a few with every build, many more when asked for. */
public final class LincheckScenarios {
    private static final int FACTOR = Integer.getInteger("clairfs.lincheck.factor", 1);

    private LincheckScenarios() {}

    /** {@code few}, or as many times more as {@code -Dclairfs.lincheck.factor} says. */
    public static int times(int few) {
        return Math.multiplyExact(few, FACTOR);
    }
}
