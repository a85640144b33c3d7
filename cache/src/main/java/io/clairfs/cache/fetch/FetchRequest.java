package io.clairfs.cache.fetch;

import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;

/**
 * Why a sample is fetched.
 *
 * @param order among equally urgent fetches the smaller goes first
 * @param wanted whether the sample is still wanted if nobody waits for it
 * @param onBytes runs on the thread that fetches when the source has given all bytes, before readers who wait are served
 * @param spareSeconds how long the fetch may take before anybody waits for it, as far as is known: so much longer than the source may a
 *     nearer place take
 * @param nearSeconds how long a nearer place that holds the sample may take, where no other place is to be asked for the whole of it; 0 where the source may be
 */
record FetchRequest(
        FetchUrgency urgency,
        long order,
        BooleanSupplier wanted,
        Runnable onBytes,
        DoubleSupplier spareSeconds,
        double nearSeconds) {

    private static void nothing() {}

    /** For a reader or another node, who wait. */
    static FetchRequest waitedFor(FetchUrgency urgency) {
        return new FetchRequest(urgency, 0, () -> true, FetchRequest::nothing, () -> 0, 0);
    }

    /** For a reader of a part of a large sample, who has it from the source if no nearer place gives the whole. */
    static FetchRequest near(double mostSeconds) {
        return new FetchRequest(FetchUrgency.READER, 0, () -> true, FetchRequest::nothing, () -> 0, mostSeconds);
    }

    /** Whether the source is not asked for the whole sample. */
    boolean isNear() {
        return nearSeconds > 0;
    }

    /** For the staging buffer. */
    static FetchRequest staging(long order, Stager stager) {
        return new FetchRequest(FetchUrgency.STAGING, order, () -> true, stager::bytesArrived, stager::spareSeconds, 0);
    }

    /** For a tier, ahead of time: nothing that a peer has is read from the source for it. */
    static FetchRequest filling(BooleanSupplier wanted) {
        return new FetchRequest(
                FetchUrgency.FILLING, 0, wanted, FetchRequest::nothing, () -> Double.POSITIVE_INFINITY, 0);
    }
}
