package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is done with last copies, where there are many; in which order what goes, {@link LeftoversTest} shows. Memory has room for all samples. */
final class EvictionTest {
    private static final int SAMPLES = 1_000;
    private static final int SIZE = 100;
    private static final int MEMORY = ResidentSamples.MEMORY;

    private final FakeDataset dataset;
    private final MemoryTier memory = new MemoryTier(SAMPLES * SIZE);
    private final ResidentSamples residents;

    /** By file, how often it was evicted. */
    private final AtomicIntegerArray evictions;

    private final Eviction eviction;

    EvictionTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> SIZE);
        residents = new ResidentSamples(dataset.tree, memory, List.of(), SIZE);
        evictions = new AtomicIntegerArray(dataset.tree.entryCount());
        eviction = new Eviction(dataset.tree, residents, (_, _) -> true, this::evict, _ -> Eviction.NONE);
    }

    @AfterEach
    void close() {
        residents.close();
        memory.close();
    }

    private boolean evict(int file, int tier) {
        evictions.incrementAndGet(file);
        residents.evict(tier, file);
        return true;
    }

    /** Evicts as long as there is anything of this worth. */
    private void evictAll(Eviction.Worth worth) {
        eviction.makeRoom(MEMORY, SIZE, () -> worth, () -> false);
    }

    @Test
    void lastCopies_takeAFewBytesEach() {
        evictAll(Eviction.Worth.LEFTOVERS);
        int count = 1_000_000;
        int[] files = IntStream.range(0, SAMPLES).map(dataset::file).toArray();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < count; i++) {
            eviction.leftover(files[i % SAMPLES], MEMORY);
        }
        assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                .as("all that was allocated, also while it grew; a list of boxed numbers takes 32 bytes each")
                .isLessThan(16L * count);
        assertThat(eviction.mayFindLeftover(MEMORY)).isTrue();
        eviction.lookAgain();
        evictAll(Eviction.Worth.LEFTOVERS);
        assertThat(eviction.mayFindLeftover(MEMORY))
                .as("those of the plan before are forgotten")
                .isFalse();
    }

    @Test
    void lastCopies_eachGoesOnce_howeverManyThreadsNeedRoom() throws Exception {
        residents.tell(new Elsewhere(_ -> false));
        keepAll();
        Callable<Boolean> evicting = () -> {
            evictAll(Eviction.Worth.LAST_COPIES);
            return true;
        };
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (Future<Boolean> each : threads.invokeAll(Collections.nCopies(4, evicting))) {
                assertThat(each.get()).isTrue();
            }
        }
        assertThat(memory.samples()).isZero();
        for (int sample = 0; sample < SAMPLES; sample++) {
            assertThat(evictions.get(dataset.file(sample))).isEqualTo(1);
        }
        assertThat(eviction.mayFindLeftover(MEMORY)).isFalse();
    }

    @Test
    void replicaThatWasLetGo_goesBeforeTheLastCopies_howeverManyThereAre() {
        int replica = dataset.file(SAMPLES - 1);
        AtomicBoolean hasCopies = new AtomicBoolean();
        residents.tell(new Elsewhere(file -> file == replica && hasCopies.get()));
        keepAll();
        evictAll(Eviction.Worth.LEFTOVERS);
        assertThat(memory.samples()).as("no other node has any").isEqualTo(SAMPLES);
        hasCopies.set(true);
        eviction.spareLeftover(replica, MEMORY);
        evictAll(Eviction.Worth.LEFTOVERS);
        assertThat(evictions.get(replica)).isEqualTo(1);
        assertThat(memory.samples()).isEqualTo(SAMPLES - 1);
    }

    private void keepAll() {
        for (int sample = 0; sample < SAMPLES; sample++) {
            SampleBuffer buffer = dataset.sample(sample);
            assertThat(residents.keep(MEMORY, dataset.file(sample), buffer)).isTrue();
            buffer.release();
        }
    }

    /** What other nodes have. */
    private record Elsewhere(IntPredicate files) implements ResidencyListener {
        @Override
        public void kept(int tier, int file) {
            assertThat(tier).isEqualTo(MEMORY);
        }

        @Override
        public void gone(int tier, int file) {
            assertThat(tier).isEqualTo(MEMORY);
        }

        @Override
        public boolean isElsewhere(int file) {
            return files.test(file);
        }
    }
}
