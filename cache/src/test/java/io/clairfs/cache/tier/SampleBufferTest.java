package io.clairfs.cache.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.clairfs.cache.posix.NativeMemory;
import org.junit.jupiter.api.Test;

/** What a sample does when somebody miscounts: the tests run with assertions, the daemon does not, and both get the same. */
final class SampleBufferTest {
    /** No other test of this process takes or frees so much meanwhile; nothing is written there, so it takes no memory. */
    private static final long LARGE = 1L << 30;

    @Test
    void released_onceTooOften_isRefusedAndNeverComesBack() {
        SampleBuffer sample = SampleBuffer.allocate(LARGE);
        sample.release();
        long held = NativeMemory.heldBytes();
        assertThatIllegalStateException().isThrownBy(sample::release);
        assertThat(sample.tryRetain()).as("memory that was freed").isFalse();
        assertThat(sample.tryRetain()).isFalse();
        assertThatIllegalStateException().isThrownBy(sample::release);
        assertThat(sample.tryRetain()).isFalse();
        assertThat(NativeMemory.heldBytes()).as("freed once").isGreaterThan(held - LARGE / 2);
    }

    @Test
    void freed_bytesAreNotGivenOut() {
        SampleBuffer sample = SampleBuffer.allocate(8);
        sample.release();
        assertThatIllegalStateException().isThrownBy(sample::bytes);
    }
}
