package io.clairfs.gpufeeder.feed;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.RawDecoding;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.ring.TrainerEnd;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a feeder refuses and what it leaves, over a directory that looks like a mount. FeedTest feeds from a real one. */
@Timeout(300)
final class FeederTest {
    /** By the formulas of FNV-1a and SplitMix64, in Python. */
    private static final long KEY_OF_1_2_3 = 0x5798631a8ae4e35aL;

    private static final SampleFormat ONE_BYTE = new SampleFormat(ElementType.UINT8, List.of(1));
    private static final long LOOK_EVERY_MS = 10;

    @TempDir
    private Path root;

    /** A decoding that is held up in its first sample, as a thread is that waits for the mount. */
    private static final class HeldUp implements Decoding, SampleDecoder.Content {
        private final CompletableFuture<MemorySegment> place = new CompletableFuture<>();
        private final CountDownLatch goesOn = new CountDownLatch(1);

        @Override
        public SampleFormat format() {
            return ONE_BYTE;
        }

        @Override
        public SampleDecoder open() {
            return this;
        }

        @Override
        public void decode(MemorySegment file, long key, MemorySegment slot) {
            boolean _ = place.complete(slot);
            try {
                goesOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            slot.set(JAVA_BYTE, 0, (byte) 1); // which fails where the memory is gone
        }
    }

    @Test
    void a_ring_that_does_not_fit_into_the_available_memory_is_refused_before_it_is_made() throws Exception {
        Files.createDirectories(root.resolve(".clairfs/sample/train"));
        Files.writeString(root.resolve(".clairfs/job"), "name=train seed=1\n");
        Files.writeString(root.resolve(".clairfs/sample/train/all"), "a/1\nb/2\n");
        MountedJob job = MountedJob.find(root, "train", 0);
        FeedOptions options = new FeedOptions(10, false, 2, 1, new FeedOptions.Directories(), null, "raw");
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
    void ring_of_a_thread_that_is_held_up_stays_until_that_thread_has_ended_and_no_longer() throws Exception {
        PretendedMount mount = new PretendedMount(root);
        for (String sample : List.of("a/1", "b/2")) {
            Files.createDirectories(root.resolve(sample).getParent());
            Files.write(root.resolve(sample), new byte[1]);
        }
        MountedJob job = MountedJob.find(mount.reader(), "train", 0);
        FeedOptions options = new FeedOptions(1, false, 2, 1, new FeedOptions.None(), null, "raw");
        JobSamples samples = JobSamples.read(job, options.labels(), 0);
        HeldUp decoding = new HeldUp();
        Feeder feeder = new Feeder(job, samples, decoding, options, () -> Long.MAX_VALUE, 1);
        try (TrainerEnd trainer = new TrainerEnd()) {
            CompletableFuture<Boolean> served = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> {
                try {
                    feeder.serve(trainer.feeder());
                    boolean _ = served.complete(true);
                } catch (IOException | InterruptedException | RuntimeException e) {
                    boolean _ = served.completeExceptionally(e);
                }
            });
            trainer.seek(1, 1, 0);
            MemorySegment place = decoding.place.get();
            trainer.end();
            assertThat(served.get()).as("the next trainer is not kept waiting").isTrue();
            assertThat(place.scope().isAlive()).as("the thread may still write").isTrue();
            decoding.goesOn.countDown();
            while (place.scope().isAlive()) {
                Thread.sleep(LOOK_EVERY_MS);
            }
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
