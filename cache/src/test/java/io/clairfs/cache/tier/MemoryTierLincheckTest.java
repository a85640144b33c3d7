package io.clairfs.cache.tier;

import io.clairfs.cache.testing.LincheckScenarios;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A memory tier with room for all, under every interleaving that Lincheck tries, against a set. Public for Lincheck's sake. */
@Param(name = "file", gen = IntGen.class, conf = "1:3")
@Tag("long")
public final class MemoryTierLincheckTest {
    private final MemoryTier tier = new MemoryTier(1000);
    private final Queue<SampleBuffer> made = new ConcurrentLinkedQueue<>();

    @Operation
    public boolean keep(@Param(name = "file") int file) {
        SampleBuffer sample = SampleBuffer.allocate(8);
        sample.bytes().fill((byte) file);
        made.add(sample);
        try {
            return tier.keep(file, sample);
        } finally {
            sample.release();
        }
    }

    @Operation
    public boolean get(@Param(name = "file") int file) {
        SampleBuffer sample = tier.get(file);
        if (sample == null) {
            return false;
        }
        int first = sample.bytes().get(ValueLayout.JAVA_BYTE, 0);
        sample.release();
        if (first != file) {
            throw new AssertionError("bytes of " + first + " instead of " + file);
        }
        return true;
    }

    @Operation
    public boolean contains(@Param(name = "file") int file) {
        return tier.contains(file);
    }

    @Operation
    public void evict(@Param(name = "file") int file) {
        tier.evict(file);
    }

    @Validate
    public void allIsGivenBackInTheEnd() {
        MemoryTierRoomLincheckTest.requireExactThenEmpty(tier, made);
    }

    /** What is in the tier. */
    public static final class Kept {
        private final Set<Integer> files = new HashSet<>();

        public boolean keep(int file) {
            files.add(file);
            return true;
        }

        public boolean get(int file) {
            return files.contains(file);
        }

        public boolean contains(int file) {
            return files.contains(file);
        }

        public void evict(int file) {
            files.remove(file);
        }
    }

    @Test
    void everyInterleaving_doesWhatASetWould() {
        LincheckScenarios.patient(new ModelCheckingOptions())
                .iterations(LincheckScenarios.times(2))
                .invocationsPerIteration(40)
                .threads(2)
                .actorsPerThread(2)
                .sequentialSpecification(Kept.class)
                .check(MemoryTierLincheckTest.class);
    }

    @Test
    void manyThreadsAtOnce_doWhatASetWould() {
        LincheckScenarios.patient(new StressOptions())
                .iterations(LincheckScenarios.times(5))
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(3)
                .sequentialSpecification(Kept.class)
                .check(MemoryTierLincheckTest.class);
    }
}
