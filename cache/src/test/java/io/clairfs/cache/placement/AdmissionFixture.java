package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Memory with room for three samples, a disk with room for four. Every sample has 100 bytes, but for the last, which has 10,000. */
abstract class AdmissionFixture {
    static final int SIZE = 100;
    static final int SAMPLES = 20;
    static final int GIANT = 19;
    static final int MEMORY = 0;
    static final int DISK = 1;

    private final List<SampleBuffer> made = new ArrayList<>();
    final FakeDataset dataset;
    final MemoryTier memory;
    final RecordingTier disk;
    final Admission admission;

    AdmissionFixture() throws Exception {
        dataset = new FakeDataset(SAMPLES, i -> i == GIANT ? 10_000 : SIZE);
        memory = new MemoryTier(3 * SIZE);
        disk = new RecordingTier(4 * SIZE);
        admission = new Admission(dataset.tree, memory, List.of(disk), 2 * SIZE);
    }

    @BeforeEach
    void followAPlan() {
        plan(Map.of());
    }

    @AfterEach
    void everythingIsGivenBack() {
        admission.close();
        memory.close();
        disk.close();
        assertThat(made).as("still held").noneMatch(SampleBuffer::tryRetain);
    }

    /** From now on these samples belong into these tiers, the others nowhere. */
    void plan(Map<Integer, Integer> tierOf) {
        Map<Integer, Integer> byFile = new HashMap<>();
        tierOf.forEach((sample, tier) -> byFile.put(dataset.file(sample), tier));
        admission.follow(file -> byFile.getOrDefault(file, LocalPlan.NOWHERE));
    }

    void fetched(int sample, boolean byReader) {
        SampleBuffer buffer = dataset.sample(sample);
        made.add(buffer);
        admission.fetched(dataset.file(sample), buffer, byReader);
        buffer.release();
    }

    void fetched(int... samples) {
        for (int sample : samples) {
            fetched(sample, false);
        }
    }

    /** Notes what is told, in order; these files are held by other nodes. */
    record Told(List<String> told, IntPredicate elsewhere) implements ResidencyListener {
        @Override
        public void kept(int tier, int file) {
            told.add("kept " + tier + " " + file);
        }

        @Override
        public void gone(int tier, int file) {
            told.add("gone " + tier + " " + file);
        }

        @Override
        public boolean isElsewhere(int file) {
            return elsewhere.test(file);
        }
    }

    /** The files of these samples are held by other nodes, the others by none. */
    void heldElsewhere(Set<Integer> samples) {
        admission.residents().tell(new Told(new ArrayList<>(), file -> samples.contains(dataset.index.sampleOf(file))));
    }

    void writeAll() {
        while (admission.writeNext(DISK)) {
            assertThat(admission.writeNext(MEMORY)).as("memory has no queue").isFalse();
        }
    }

    List<Integer> in(Tier tier) {
        List<Integer> found = new ArrayList<>();
        for (int sample = 0; sample < SAMPLES; sample++) {
            if (tier.contains(dataset.file(sample))) {
                found.add(sample);
            }
        }
        return found;
    }

    List<Integer> onTheirWay() {
        List<Integer> found = new ArrayList<>();
        for (int sample = 0; sample < SAMPLES; sample++) {
            if (admission.residents().isInMemory(dataset.file(sample)) && !memory.contains(dataset.file(sample))) {
                found.add(sample);
            }
        }
        return found;
    }
}
