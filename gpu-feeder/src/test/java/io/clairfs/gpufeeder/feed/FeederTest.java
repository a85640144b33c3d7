package io.clairfs.gpufeeder.feed;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.RawDecoding;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.ring.TrainerEnd;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a feeder refuses, over a directory that looks like a mount. FeedTest feeds from a real one. */
final class FeederTest {
    @TempDir
    private Path root;

    @Test
    void a_ring_that_does_not_fit_into_the_available_memory_is_refused_before_it_is_made() throws Exception {
        Files.createDirectories(root.resolve(".clairfs/sample/train"));
        Files.writeString(root.resolve(".clairfs/job"), "name=train seed=1\n");
        Files.writeString(root.resolve(".clairfs/sample/train/all"), "a/1\nb/2\n");
        MountedJob job = MountedJob.find(root, "train", 0);
        FeedOptions options = new FeedOptions(10, false, 2, 1, new FeedOptions.Directories());
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
}
