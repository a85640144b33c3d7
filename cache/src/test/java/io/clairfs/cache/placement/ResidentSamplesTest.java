package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.tier.AsListedTier;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import io.clairfs.cache.tier.TierFailures;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the other nodes are told of a sample that two threads keep and evict at the same time. */
final class ResidentSamplesTest {
    private static final int DISK = 1;
    private static final int SIZE = 100;

    private final FakeDataset dataset;
    private final int file;
    private final MemoryTier memory = new MemoryTier(SIZE);
    private final Disk disk = new Disk();
    private final SampleBuffer sample = SampleBuffer.allocate(SIZE);
    private final ResidentSamples residents;
    private final Told told = new Told();

    ResidentSamplesTest() throws Exception {
        dataset = new FakeDataset(1, _ -> SIZE);
        file = dataset.file(0);
        residents = new ResidentSamples(dataset.tree, memory, List.of(disk), SIZE);
        residents.tell(told);
    }

    @AfterEach
    void close() {
        residents.close();
        memory.close();
        sample.release();
    }

    @Test
    void sampleThatTheFirstDiskHasAndThatWasCompared_asksTheSourceNothing_whateverTheNextDiskHasToCompare() {
        RecordingTier first = new RecordingTier(SIZE);
        RecordingTier second = new RecordingTier(SIZE);
        List<AsListedTier> disks = List.of(new AsListedTier(first, _ -> true), new AsListedTier(second, _ -> true));
        disks.forEach(each -> each.compareAll(file + 1));
        ResidentSamples both = new ResidentSamples(dataset.tree, memory, disks, SIZE);
        assertThat(first.keep(file, sample)).isTrue();
        assertThat(both.mayAskSource(file)).isTrue();
        SampleBuffer read = both.readStored(file);
        assertThat(read).isNotNull();
        read.release();
        assertThat(both.mayAskSource(file)).isFalse();
        both.close();
        first.close();
        second.close();
    }

    @Test
    void sampleThatIsKeptBetweenItsEvictionAndTheTelling_isTold() {
        keep();
        disk.meanwhile = this::keep;
        residents.evict(DISK, file);
        assertThat(disk.contains(file)).isTrue();
        assertThat(told.here).containsExactly(file);
    }

    @Test
    void sampleThatIsKeptWhileItIsToldToBeGone_isTold() {
        keep();
        told.meanwhile = this::keep;
        residents.evict(DISK, file);
        assertThat(disk.contains(file)).isTrue();
        assertThat(told.here).containsExactly(file);
    }

    @Test
    void sampleThatIsEvictedBetweenItsKeepingAndTheTelling_isNotTold() {
        disk.meanwhile = () -> residents.evict(DISK, file);
        keep();
        assertThat(disk.contains(file)).isFalse();
        assertThat(told.here).isEmpty();
    }

    private void keep() {
        assertThat(residents.keep(DISK, file, sample)).isTrue();
    }

    /** What another thread does at one moment, once. */
    private abstract static class Interrupted {
        @Nullable
        Runnable meanwhile;

        void letOthersRun() {
            Runnable once = meanwhile;
            meanwhile = null;
            if (once != null) {
                once.run();
            }
        }
    }

    /** What the others know; another thread runs before it does. */
    private static final class Told extends Interrupted implements ResidencyListener {
        final Set<Integer> here = new HashSet<>();

        @Override
        public void kept(int tier, int file) {
            letOthersRun();
            here.add(file);
        }

        @Override
        public void gone(int tier, int file) {
            letOthersRun();
            here.remove(file);
        }

        @Override
        public boolean isElsewhere(int file) {
            return true;
        }
    }

    /** A disk; another thread runs after what is asked of it was done. */
    private static final class Disk extends Interrupted implements Tier {
        private final Set<Integer> files = new HashSet<>();

        @Override
        public String name() {
            return "disk";
        }

        @Override
        public boolean contains(int file) {
            return files.contains(file);
        }

        @Override
        public @Nullable SampleBuffer get(int file) {
            return null;
        }

        @Override
        public boolean keep(int file, SampleBuffer sample) {
            files.add(file);
            letOthersRun();
            return true;
        }

        @Override
        public void evict(int file) {
            files.remove(file);
            letOthersRun();
        }

        @Override
        public long capacityBytes() {
            return SIZE;
        }

        @Override
        public long usedBytes() {
            return (long) files.size() * SIZE;
        }

        @Override
        public int samples() {
            return files.size();
        }

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public TierFailures failures() {
            return TierFailures.NONE;
        }

        @Override
        public void close() {
            files.clear();
        }
    }
}
