package io.clairfs.cache.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class SchedulerSliceTest {
    @Test
    void lengthened_isThatOfItsThreadAlone() throws Exception {
        long usual = SchedulerSlice.ofThisThreadNs();
        assumeThat(usual).as("the slice of a thread, which this kernel tells").isPositive();
        CompletableFuture<Long> lengthened = new CompletableFuture<>();
        Thread.ofPlatform()
                .start(() -> lengthened.complete(SchedulerSlice.lengthen() ? SchedulerSlice.ofThisThreadNs() : 0))
                .join();

        assertThat(lengthened.join()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(100));
        assertThat(SchedulerSlice.ofThisThreadNs()).isEqualTo(usual);
    }
}
