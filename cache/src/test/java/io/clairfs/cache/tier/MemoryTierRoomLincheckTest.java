package io.clairfs.cache.tier;

import io.clairfs.cache.testing.LincheckScenarios;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jetbrains.lincheck.datastructures.verifier.EpsilonVerifier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A memory tier in which room is short, under every interleaving that Lincheck tries: who gets the room is not said, but the books
 * must balance when all calls have returned. The model checker takes what runs under the cache's entry lock for one step; the stress
 * mode does not. Public for Lincheck's sake.
 */
@Param(name = "file", gen = IntGen.class, conf = "1:2")
@Tag("long")
public final class MemoryTierRoomLincheckTest {
    private static final long CAPACITY = 100;

    private final MemoryTier tier = new MemoryTier(CAPACITY);
    private final Queue<SampleBuffer> made = new ConcurrentLinkedQueue<>();

    private SampleBuffer sample() {
        SampleBuffer sample = SampleBuffer.allocate(60);
        made.add(sample);
        return sample;
    }

    @Operation
    public void keep(@Param(name = "file") int file) {
        SampleBuffer sample = sample();
        tier.keep(file, sample);
        sample.release();
    }

    @Operation
    public void keepRecent(@Param(name = "file") int file) {
        SampleBuffer sample = sample();
        tier.keepRecent(file, sample);
        sample.release();
    }

    @Operation
    public void get(@Param(name = "file") int file) {
        SampleBuffer sample = tier.get(file);
        if (sample != null) {
            sample.release();
        }
    }

    @Operation
    public void evict(@Param(name = "file") int file) {
        tier.evict(file);
    }

    @Operation
    public void close() {
        tier.close();
    }

    @Validate
    public void theBooksBalance() {
        requireExactThenEmpty(tier, made);
    }

    /** Fails unless the tier counts what it holds, and gives it all back when it is closed. */
    static void requireExactThenEmpty(MemoryTier tier, Collection<SampleBuffer> made) {
        long bytes = 0;
        int samples = 0;
        for (int file = 1; file <= 3; file++) {
            SampleBuffer sample = tier.get(file);
            if (sample != null) {
                samples++;
                bytes += sample.size();
                sample.release();
            }
        }
        if (tier.samples() != samples || tier.usedBytes() != bytes || bytes > tier.capacityBytes()) {
            throw new AssertionError(tier.samples() + " samples of " + tier.usedBytes() + " bytes are counted, but "
                    + samples + " of " + bytes + " are there");
        }
        tier.close();
        if (tier.samples() != 0 || tier.usedBytes() != 0 || tier.pinnedBytes() != 0) {
            throw new AssertionError(
                    tier.samples() + " samples of " + tier.usedBytes() + " bytes are counted in the end");
        }
        for (SampleBuffer sample : made) {
            if (sample.tryRetain()) {
                throw new AssertionError("a sample is still held");
            }
        }
    }

    @Test
    void everyInterleaving_theBooksBalance() {
        LincheckScenarios.patient(new ModelCheckingOptions())
                .iterations(LincheckScenarios.times(2))
                .invocationsPerIteration(40)
                .actorsBefore(0)
                .actorsAfter(0)
                .threads(2)
                .actorsPerThread(2)
                .verifier(EpsilonVerifier.class)
                .check(MemoryTierRoomLincheckTest.class);
    }

    @Test
    void manyThreadsAtOnce_theBooksBalance() {
        LincheckScenarios.patient(new StressOptions())
                .iterations(LincheckScenarios.times(8))
                .invocationsPerIteration(500)
                .actorsBefore(0)
                .actorsAfter(0)
                .threads(3)
                .actorsPerThread(3)
                .verifier(EpsilonVerifier.class)
                .check(MemoryTierRoomLincheckTest.class);
    }
}
