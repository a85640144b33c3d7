package io.clairfs.tools.demo;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The result of a demonstration. The names of the components are the keys of {@link #json}, in snake case.
 *
 * @param trainer the trainer's library: PyTorch or plain Python
 * @param bytes of the dataset
 * @param idealSeconds the time of an epoch without waits for data
 * @param firstEpochBoundSeconds the least time of a first epoch: the computation, or all bytes at the source's bandwidth
 * @param direct epochs directly on the source
 * @param mounted epochs through clairfs
 * @param fed epochs through clairfs with batches from the feeder; null without {@code --feed}
 * @param speedup the time of all direct epochs divided by that of all mounted ones
 * @param fedSpeedup the time of all mounted epochs divided by that of all fed ones; null without {@code --feed}
 * @param readsOpened opened files that the mount counted
 * @param readsWithUpcall reads that caused a request to the daemon
 * @param readsWithUpcallFraction the same as a fraction of the trainer's reads
 * @param told whether the trainer told its seed
 * @param found the order that clairfs found by itself, for people; null when it was told, or not found
 * @param inSync whether the trainer followed the predicted order to the end
 * @param deviations reads out of the predicted order
 * @param sameBytes whether the samples, or their pixels with {@code --feed}, were the same in every epoch, whichever way they came
 */
public record DemoReport(
        String trainer,
        int workers,
        int batch,
        double computeSecondsPerBatch,
        long samples,
        long bytes,
        long bandwidthBytesPerSecond,
        double openLatencySeconds,
        double idealSeconds,
        double firstEpochBoundSeconds,
        List<EpochFigures> direct,
        List<EpochFigures> mounted,
        @Nullable List<EpochFigures> fed,
        double speedup,
        @Nullable Double fedSpeedup,
        long readsOpened,
        long readsWithUpcall,
        double readsWithUpcallFraction,
        boolean told,
        @Nullable String found,
        boolean inSync,
        long deviations,
        boolean sameBytes) {
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    public DemoReport {
        direct = List.copyOf(direct);
        mounted = List.copyOf(mounted);
        fed = fed == null ? null : List.copyOf(fed);
    }

    /** The report for programs: one JSON object. */
    public String json() {
        return JSON.writeValueAsString(this) + "\n";
    }

    /** The report for people. */
    public String text() {
        return DemoText.of(this);
    }
}
