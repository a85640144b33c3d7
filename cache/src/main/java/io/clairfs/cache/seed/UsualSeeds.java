package io.clairfs.cache.seed;

import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Seeds that people write, and defaults of frameworks. */
final class UsualSeeds {
    /** torch's for a generator that was never seeded, and ultralytics' for one GPU. */
    private static final long[] OF_FRAMEWORKS = {67280421310721L, 6148914691236517204L};

    private static final long[] BEYOND_A_THOUSAND = {
        1024,
        1111,
        1213,
        1234,
        1337,
        1729,
        2048,
        2222,
        2718,
        3141,
        3407,
        4242,
        4321,
        5678,
        6666,
        7777,
        8888,
        9999,
        10000,
        10086,
        11111,
        12345,
        22222,
        31337,
        31415,
        42424,
        54321,
        65535,
        65536,
        65537,
        100000,
        114514,
        123123,
        123456,
        424242,
        654321,
        666666,
        777777,
        888888,
        999999,
        1000000,
        1234567,
        3141592,
        12345678,
        19260817,
        20202020,
        27182818,
        31415926,
        42424242,
        87654321,
        123456789,
        314159265,
        987654321,
        0x7fffffffL,
        0xffffffffL,
        0xdeadbeefL,
        1234567890
    };

    private static final long[] BELOW_A_THOUSAND = {111, 123, 222, 256, 314, 321, 333, 512, 555, 666, 777, 888, 999};

    private UsualSeeds() {}

    /** For families whose candidates cost microseconds: all to 1000, years, and the known ones; each once. */
    static long[] many() {
        return joined(
                LongStream.rangeClosed(0, 1000),
                LongStream.rangeClosed(2010, 2040),
                LongStream.of(BEYOND_A_THOUSAND),
                LongStream.of(OF_FRAMEWORKS));
    }

    /** For families of which each candidate is a whole order: all to 100, years, and the best known ones; each once, the likeliest first. */
    static long[] few() {
        return joined(
                LongStream.of(42, 0, 1, 1234, 123, 1337, 2, 3, 10, 100, 2024, 2025, 2026, 7),
                LongStream.rangeClosed(0, 100),
                LongStream.of(BELOW_A_THOUSAND),
                LongStream.rangeClosed(2018, 2030),
                LongStream.of(1000, 1024, 1111, 1234, 1337, 3407, 4242, 12345, 123456));
    }

    private static long[] joined(LongStream... parts) {
        return Stream.of(parts).flatMapToLong(part -> part).distinct().toArray();
    }
}
