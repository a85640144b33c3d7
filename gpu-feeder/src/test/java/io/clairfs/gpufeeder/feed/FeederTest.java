package io.clairfs.gpufeeder.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.RawDecoding;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.ring.TrainerEnd;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a feeder refuses, over a directory that looks like a mount. FeedTest feeds from a real one. */
final class FeederTest {
    /** By the formulas of FNV-1a and SplitMix64, in Python. */
    private static final long KEY_OF_1_2_3 = 0x5798631a8ae4e35aL;

    @TempDir
    private Path root;

    @Test
    void a_ring_that_does_not_fit_into_the_available_memory_is_refused_before_it_is_made() throws Exception {
        Files.createDirectories(root.resolve(".clairfs/sample/train"));
        Files.writeString(root.resolve(".clairfs/job"), "name=train seed=1\n");
        Files.writeString(root.resolve(".clairfs/sample/train/all"), "a/1\nb/2\n");
        MountedJob job = MountedJob.find(root, "train", 0);
        FeedOptions options = new FeedOptions(10, false, 2, 1, new FeedOptions.Directories(), null);
        JobSamples samples = JobSamples.read(job, options.labels(), 0);
        RawDecoding decoding = new RawDecoding(new SampleFormat(ElementType.UINT8, List.of(100)), 0);
        Feeder feeder = new Feeder(job, samples, decoding, options, () -> 10_000);
        try (TrainerEnd trainer = new TrainerEnd()) {
            assertThatThrownBy(() -> feeder.serve(trainer.feeder()))
                    .isInstanceOf(FeedException.class)
                    .hasMessageContaining(
                            "2 batches of 10 samples of 100 bytes takes 16384 bytes, and 10000 are available");
        }
    }

    @Test
    void random_crops_follow_from_seed_epoch_and_sample() {
        Set<Long> keys = new HashSet<>();
        for (String seed : List.of("1", "2", "18446744073709551617")) { // the last one is 1 in 64 bits
            for (int epoch = 0; epoch < 10; epoch++) {
                for (int sample = 0; sample < 1_000; sample++) {
                    keys.add(Feeder.key(seed, epoch, sample));
                }
            }
        }
        assertThat(keys).hasSize(3 * 10 * 1_000);
        assertThat(Feeder.key("1", 2, 3)).isEqualTo(KEY_OF_1_2_3);
    }
}
