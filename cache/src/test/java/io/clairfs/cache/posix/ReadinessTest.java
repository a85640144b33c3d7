package io.clairfs.cache.posix;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ReadinessTest {
    @Test
    void descriptorWhoseOtherEndIsClosed_hasFailed() throws PosixException {
        int[] ends = SocketPair.open();
        try {
            try {
                assertThat(Readiness.hasFailed(ends[0])).isFalse();
            } finally {
                Posix.close(ends[1]);
            }
            assertThat(Readiness.hasFailed(ends[0])).isTrue();
        } finally {
            Posix.close(ends[0]);
        }
    }
}
