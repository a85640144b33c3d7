package io.clairfs.cache.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.testing.RecordingTier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which samples of earlier mounts are compared with the source. */
final class AsListedTierTest {
    private static final int FILES = 130;

    private final RecordingTier disk = new RecordingTier(10_000);
    private final Map<Integer, Boolean> says = new HashMap<>();
    private final List<Integer> asked = new ArrayList<>();
    private final AsListedTier tier = new AsListedTier(disk, file -> {
        asked.add(file);
        Boolean same = says.get(file);
        if (same == null) {
            throw new SourceFailedException("f" + file, Errno.EIO);
        }
        return same;
    });

    @AfterEach
    void close() {
        tier.close();
    }

    private void put(Tier into, int file) {
        SampleBuffer sample = SampleBuffer.allocate(10);
        assertThat(into.keep(file, sample)).isTrue();
        sample.release();
    }

    private boolean comes(int file) {
        SampleBuffer sample = tier.get(file);
        if (sample != null) {
            sample.release();
        }
        return sample != null;
    }

    @Test
    void unlessItIsAskedFor_nothingIsCompared() {
        put(disk, 5);
        assertThat(comes(5)).isTrue();
        assertThat(asked).isEmpty();
    }

    @Test
    void sampleOfAFileThatIsAsListed_isComparedOnce() {
        tier.compareAll(FILES);
        put(disk, 129);
        says.put(129, true);
        assertThat(tier.mayAskSource(129)).isTrue();
        assertThat(comes(129)).isTrue();
        assertThat(tier.mayAskSource(129)).isFalse();
        assertThat(comes(129)).isTrue();
        assertThat(asked).containsExactly(129);
    }

    @Test
    void sampleOfAFileThatHasChanged_isForgotten() {
        tier.compareAll(FILES);
        put(disk, 64);
        says.put(64, false);
        assertThat(comes(64)).isFalse();
        assertThat(tier.contains(64)).isFalse();
    }

    @Test
    void sourceThatDoesNotSay_isAskedAgain_andTheSampleStays() {
        tier.compareAll(FILES);
        put(disk, 0);
        assertThat(comes(0)).isFalse();
        says.put(0, true);
        assertThat(comes(0)).isTrue();
        assertThat(asked).containsExactly(0, 0);
    }

    @Test
    void sampleThatCameInThisMount_isNotCompared() {
        tier.compareAll(FILES);
        put(tier, 7);
        assertThat(comes(7)).isTrue();
        assertThat(asked).isEmpty();
    }
}
