package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sums over the segments of a tier. */
final class SegmentLogTest {
    private static final int SIZE = 1_000;
    private static final long ON_DISK = SIZE + IndexEntry.BYTES;

    /** Nothing waits for so long. */
    private static final long BOUND_S = 60;

    @TempDir
    Path root;

    @Test
    void sums_areToldWhileAFileIsMadeOnADiskThatHangs() throws Exception {
        try (TierDirectory directory = new TierDirectory(root, "/data", false);
                ExecutorService status = Executors.newSingleThreadExecutor()) {
            SegmentLog log = new SegmentLog(directory, 100_000);
            Places places = new Places(2);
            for (int file = 0; file < 2; file++) {
                SegmentLog.Spot spot = Objects.requireNonNull(log.reserve(SIZE));
                assertThat(log.publish(places, file, Places.NOWHERE, spot)).isTrue();
            }
            assertThat(log.retract(places, 0, places.get(0), SIZE)).isTrue();
            SegmentLog.Spot writing = Objects.requireNonNull(log.reserve(SIZE));
            Callable<List<Long>> asked =
                    () -> List.of(log.diskBytes(), log.liveBytes(), log.deadBytes(), (long) log.liveSamples());
            synchronized (log) { // a thread that makes a file holds this
                assertThat(status.submit(asked).get(BOUND_S, TimeUnit.SECONDS))
                        .containsExactly(TierDirectory.fixedBytes() + 3 * ON_DISK, ON_DISK, ON_DISK, 1L);
            }
            log.giveBack(writing);
            assertThat(log.diskBytes()).isEqualTo(TierDirectory.fixedBytes() + 2 * ON_DISK);
            assertThat(log.deadBytes()).isEqualTo(ON_DISK);
        }
    }
}
