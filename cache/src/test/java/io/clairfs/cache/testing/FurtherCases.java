package io.clairfs.cache.testing;

import java.util.List;
import java.util.stream.IntStream;

/**
 * How many of the cases of one kind are tried: a part of them at every {@code ./verify}, always the same; all with {@code ./verify --all}, which
 * sets {@code -Dclairfs.test.all=true}.
 */
public final class FurtherCases {
    private static final boolean ASKED = Boolean.getBoolean("clairfs.test.all");
    private static final int ONE_IN = 4;

    private FurtherCases() {}

    /** {@code all}, or a quarter of them, rounded up. */
    public static int of(int all) {
        return ASKED ? all : Math.ceilDiv(all, ONE_IN);
    }

    /** The part of all random cases that is tried, 0 to 1. */
    public static double share() {
        return ASKED ? 1 : 1.0 / ONE_IN;
    }

    /** All of them, or every fourth from the first on. */
    public static <T> List<T> of(List<T> all) {
        return IntStream.range(0, all.size())
                .filter(i -> ASKED || i % ONE_IN == 0)
                .<T>mapToObj(all::get)
                .toList();
    }

    /** All of them, or the first: for those that take seconds each. */
    public static <T> List<T> orFirst(List<T> all) {
        return ASKED ? all : all.subList(0, 1);
    }
}
