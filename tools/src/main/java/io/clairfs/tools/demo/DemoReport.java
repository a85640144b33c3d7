package io.clairfs.tools.demo;

import java.util.List;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a demonstration found; the names of the components are the keys of {@link #json}, in snake case.
 *
 * @param trainer what it is made of: PyTorch or plain Python
 * @param bytes of the dataset
 * @param idealSeconds an epoch in which no sample is ever waited for
 * @param firstEpochBoundSeconds what no first epoch can beat: the computation, or all bytes at the source's bandwidth
 * @param direct epochs directly on the source
 * @param mounted epochs through clairfs
 * @param speedup how many times as long the direct epochs took in all
 * @param readsOpened files that the mount saw opened
 * @param readsWithUpcall reads for which the mount had to be asked
 * @param readsWithUpcallFraction the same as a fraction of what the trainer read
 * @param inSync whether the trainer followed the predicted order to the end
 * @param deviations reads that did not
 * @param sameBytes whether the samples were the same in every epoch, directly and mounted
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
        double speedup,
        long readsOpened,
        long readsWithUpcall,
        double readsWithUpcallFraction,
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
    }

    /** For programs: one JSON object. */
    public String json() {
        return JSON.writeValueAsString(this) + "\n";
    }

    /** For people. */
    public String text() {
        return DemoText.of(this);
    }
}
