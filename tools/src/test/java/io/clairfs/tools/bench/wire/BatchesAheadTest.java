package io.clairfs.tools.bench.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How far readers of batches may be apart. */
final class BatchesAheadTest {
    private final BatchesAhead ahead = new BatchesAhead(4);

    private CompletableFuture<Void> begin(int batch) {
        return CompletableFuture.runAsync(() -> {
            try {
                ahead.begin(batch);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void aReaderWaitsForTheSlowest() throws Exception {
        ahead.begin(3);
        CompletableFuture<Void> fifth = begin(4);
        ahead.end(1);
        ahead.end(2);
        assertThat(fifth).isNotDone();
        ahead.end(0);
        fifth.get(120, TimeUnit.SECONDS);
        ahead.begin(6);
    }
}
